import { GatewayFault } from '../../errors.ts';
import type { ByteBudget, HeldBytes } from '../../mcp/byte-budget.ts';
import type { Pausable } from './fair-reader.ts';

/**
 * Counts the bytes that a reader has read and not passed on. While the budget has no space for them its stream is paused,
 * and the flow control of the connection stops the backend.
 */
export class HeldReading {
  #held: HeldBytes;
  readonly #refused: () => void;
  #bytes = 0;
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
