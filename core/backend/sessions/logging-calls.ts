import type { SessionOwner } from '../../contract/client-context.ts';
import { ConnectionFailure } from '../failure.ts';
import { type OwnerSessions, ownerOfShare } from './exclusive-sessions.ts';
import type { JsonRpcConnection } from './json-rpc-connection.ts';

/** Where a call that named a log level runs. */
export interface LoggingPlace {
  /** `undefined`: the shared session. */
  readonly connection: JsonRpcConnection | undefined;
  /** Whether the backend may be told the level. */
  readonly isHeard: boolean;
  /** Call once, when the call has ended. */
  release(): void;
}

/**
 * Decides where calls that named a log level run at a stateless program, whose messages do not say which call they belong
 * to: in the shared session together with calls of the same caller only, else in a session of the caller.
 */
export class LoggingCalls {
  readonly #options: OwnerSessions;
  /** The caller whose calls are in the shared session. */
  #share: string | undefined;
  #calls = 0;
  readonly #leave = (): void => {
    this.#calls--;
  };

  constructor(options: OwnerSessions) {
    this.#options = options;
  }

  /** @throws GatewayFault when the caller's session cannot be opened for another reason than the limit */
  enter(owner: SessionOwner, share: string): LoggingPlace | Promise<LoggingPlace> {
    if (this.#calls > 0 && this.#share !== share) return this.#beside(owner, share);
    this.#share = share;
    this.#calls++;
    return { connection: undefined, isHeard: true, release: this.#leave };
  }

  async #beside(owner: SessionOwner, share: string): Promise<LoggingPlace> {
    try {
      const connection = await this.#options.connection(ownerOfShare(owner, share), OWN);
      return { connection, isHeard: true, release: nothing };
    } catch (cause) {
      if (!(cause instanceof ConnectionFailure) || cause.category !== 'busy') throw cause;
      const { backend, log } = this.#options;
      log.info('log messages of a call are not requested: no further program can run', { backend: backend.name });
      return { connection: undefined, isHeard: false, release: nothing };
    }
  }
}

/** Number of the session of a caller beside the shared one. */
const OWN = 1;

function nothing(): void {}
