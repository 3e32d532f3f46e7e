import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HeldBytes } from '../../mcp/byte-budget.ts';

/** Counts what a client has not read of a response, and disconnects a client that reads nothing for too long. */
export class UnsentBytes {
  readonly #response: ServerResponse;
  readonly #held: HeldBytes;
  readonly #timeoutMs: number;
  #watched: Socket | undefined;

  constructor(response: ServerResponse, held: HeldBytes, timeoutMs: number) {
    this.#response = response;
    this.#held = held;
    this.#timeoutMs = timeoutMs;
    const count = (): void => this.count();
    response.on('drain', count);
    if (response.socket === null) response.once('socket', count); // the responses to earlier requests are sent first
    // before Node's listener, which sets the timeout of an idle connection
    response.prependOnceListener('finish', () => this.#watch(undefined));
    response.once('close', () => {
      this.#watch(undefined);
      held.release();
    });
  }

  /** Counts again. */
  count(): void {
    const { writableLength, socket, closed } = this.#response;
    if (closed) return;
    this.#held.add(writableLength - this.#held.bytes);
    this.#watch(writableLength > 0 ? (socket ?? undefined) : undefined);
  }

  /** Whether there is space for more of a stream; otherwise its client, which is slow, is disconnected. */
  mayAdd(bytes: number): boolean {
    const { budget } = this.#held;
    if (this.#response.writableLength === 0 || budget.hasSpace(this.#held, bytes)) return true;
    budget.refused();
    this.#response.destroy();
    return false;
  }

  /** Node restarts the timer of a socket while a large write makes progress. */
  #watch(socket: Socket | undefined): void {
    if (this.#watched === socket) return;
    this.#watched?.off('timeout', cut).setTimeout(0);
    this.#watched = socket?.setTimeout(this.#timeoutMs, cut);
  }
}

function cut(this: Socket): void {
  this.destroy();
}
