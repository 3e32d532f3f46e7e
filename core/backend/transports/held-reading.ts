import { GatewayFault } from '../../errors.ts';
import type { ByteBudget, HeldBytes } from '../../mcp/byte-budget.ts';

/** Bytes of one stream that are read in a row before other streams are read. */
const TURN_BYTES = 65_536;

/** A stream that can be stopped for a while. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/**
 * Counts the bytes that a reader has read and not passed on. While the budget has no space for them its stream is paused,
 * and the flow control of the connection stops the backend.
 */
export class HeldReading {
  #held: HeldBytes;
  readonly #refused: () => void;
  #bytes = 0;
  /** Bytes that were read since the stream was last paused for others. */
  #inTurn = 0;
  #leave: (() => void) | undefined;

  /** `refused` is called when there is no space in time: the reader has to end and `release`. */
  constructor(held: HeldBytes, refused: () => void) {
    this.#held = held;
    this.#refused = refused;
  }

  /** `bytes` are read and not passed on now. Returns whether reading continues; otherwise the stream is paused. */
  holds(bytes: number, stream: Pausable): boolean {
    if (this.#held.isReleased) this.#countAnew();
    const more = bytes - this.#bytes;
    if (bytes === 0) this.#held.budget.ended(this.#held);
    if (more === 0) return this.#leave === undefined;
    this.#bytes = bytes;
    if (this.#leave === undefined && more > 0 && this.#held.take(more)) return true;
    this.#held.add(more); // they are in memory already
    if (more < 0 && this.#leave === undefined) return true;
    stream.pause();
    this.#leave ??= this.#held.budget.wait(
      this.#held,
      () => this.#proceed(stream),
      () => {
        this.#leave = undefined;
        this.#refused();
      },
    );
    return false;
  }

  /**
   * A chunk of a stream of messages was handled, and `pending` bytes of it and of earlier ones are not passed on.
   *
   * Prevents one flooding stream from delaying all others: Node reads up to 32 times (2 MiB) from a socket with data before it reads
   * the next one, and the messages are handled meanwhile, which takes a tenth of a second with small ones. So a stream is paused for
   * one turn of the event loop whenever it has used up its bytes.
   */
  took(chunk: number, pending: number, stream: Pausable): void {
    if (!this.holds(pending, stream)) return;
    this.#inTurn += chunk;
    if (this.#inTurn < TURN_BYTES) return;
    this.#inTurn = 0;
    stream.pause();
    setImmediate(resume, stream);
  }

  /** Everything is passed on, or discarded. */
  release(): void {
    this.#leave?.();
    this.#leave = undefined;
    this.#held.budget.ended(this.#held);
    if (this.#bytes === 0) return;
    this.#held.add(-this.#bytes);
    this.#bytes = 0;
  }

  /** The request of a suspended call has its response, and the result of the call comes after it. */
  #countAnew(): void {
    this.#held = this.#held.beside();
    this.#bytes = 0;
  }

  #proceed(stream: Pausable): void {
    this.#leave = undefined;
    stream.resume();
  }
}

function resume(stream: Pausable): void {
  stream.resume();
}

/** The bytes of messages of a backend that belong to no call, or not yet to one. */
export function heldOfBackend({ bytes, backend }: { readonly bytes: ByteBudget; readonly backend: string }): HeldBytes {
  return bytes.holder(`backend ${backend}`);
}

/** The failure of a call whose result has no space. */
export function memorySpent(backend: string): GatewayFault {
  return new GatewayFault(
    'MEMORY_SPENT',
    `the result of backend "${backend}" has no space: requests and results in flight use the memory budget of the gateway`,
  );
}
