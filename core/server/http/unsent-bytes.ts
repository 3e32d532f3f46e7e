import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HeldBytes } from '../../mcp/byte-budget.ts';

/** Counts what a client has not read of a response, and disconnects a client that reads nothing for too long. */
export class UnsentBytes {
  readonly #response: ServerResponse;
  readonly #held: HeldBytes;
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer was started. */
  #sentBytes = 0;

  constructor(response: ServerResponse, held: HeldBytes, timeoutMs: number) {
    this.#response = response;
    this.#held = held;
    this.#timeoutMs = timeoutMs;
    const count = (): void => this.count();
    response.on('drain', count);
    if (response.socket === null) response.once('socket', count); // the responses to earlier requests are sent first
    response.once('close', () => {
      this.#watch(false);
      held.release();
    });
  }

  /** Counts again. */
  count(): void {
    const { writableLength, closed } = this.#response;
    if (closed) return;
    this.#held.add(writableLength - this.#held.bytes);
    this.#watch(writableLength > 0);
  }

  /** Whether there is space for more of a stream; otherwise its client, which is slow, is disconnected. */
  mayAdd(bytes: number): boolean {
    const { budget } = this.#held;
    if (this.#response.writableLength === 0 || budget.hasSpace(this.#held, bytes)) return true;
    budget.refused();
    this.#response.destroy();
    return false;
  }

  /** The timeout of the socket would not do: what the client sends restarts it, an empty line too. */
  #watch(isBehind: boolean): void {
    if (!isBehind) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else if (this.#timer === undefined) {
      this.#sentBytes = sentBytes(this.#response.req.socket);
      const timer = setTimeout(() => afterInputAndOutput(() => this.#check(timer)), this.#timeoutMs).unref();
      this.#timer = timer;
    }
  }

  #check(timer: NodeJS.Timeout): void {
    if (this.#timer !== timer) return; // all was read meanwhile
    const { socket } = this.#response.req; // that of the response is null while an earlier response is sent
    const sent = sentBytes(socket);
    if (sent === this.#sentBytes) return void socket.destroy();
    this.#sentBytes = sent;
    timer.refresh();
  }
}

/** Where the process stood still, timers fire before it is seen what a client has read meanwhile. */
function afterInputAndOutput(act: () => void): void {
  setImmediate(() => setImmediate(act));
}

/** The part of Node's handle of a socket that its own timeouts read: a large write in progress is in no public property. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Bytes that the system has taken of everything written to a socket. */
function sentBytes(socket: Socket & { readonly _handle?: Handle | null }): number {
  const { _handle: handle } = socket;
  return handle === undefined || handle === null
    ? socket.bytesWritten - socket.writableLength
    : handle.bytesWritten - handle.writeQueueSize;
}
