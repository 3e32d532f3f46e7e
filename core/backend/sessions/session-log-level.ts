import { isMoreVerbose } from '../../mcp/log-levels.ts';
import type { JsonRpcConnection } from './json-rpc-connection.ts';

/** The log level of a session, sent again when the session is replaced. */
export class SessionLogLevel {
  readonly #send: (connection: JsonRpcConnection, level: string) => Promise<void>;
  #level: string | undefined;
  #pending: Promise<void> | undefined;

  /** `send` sets the level of a session. It never rejects. */
  constructor(send: (connection: JsonRpcConnection, level: string) => Promise<void>) {
    this.#send = send;
  }

  /** A level that the backend has not confirmed yet: calls wait for it, so that none runs at another level. */
  get pending(): Promise<void> | undefined {
    return this.#pending;
  }

  /** Changes the level; `atLeast` only lowers the threshold. Returns whether it changed. */
  set(level: string, atLeast: boolean): boolean {
    if (this.#level === level || (atLeast && !isMoreVerbose(level, this.#level))) return false;
    this.#level = level;
    return true;
  }

  /** Sends the level, if there is one, to a legacy backend that has levels. */
  sendTo(connection: JsonRpcConnection): void {
    const level = this.#level;
    if (level === undefined || connection.era !== '2025-11-25' || connection.hello.capabilities.logging === undefined)
      return;
    const sent = this.#send(connection, level).finally(() => {
      if (this.#pending === sent) this.#pending = undefined;
    });
    this.#pending = sent;
  }
}
