/**
 * Most bytes that are reserved for a body on the word of the server. What was not received is not in memory: the system gives pages
 * when they are written.
 */
const MAX_RESERVED_BYTES = 2 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** Copies the parts of one body next to each other, so that who collects them does not copy them again. */
export class BodyMemory {
  #reserved = NOTHING;
  #filled = 0;

  /** A copy of `bytes` from `from` to `to`. `left`: how many bytes are to come in all, these included. */
  copy(bytes: Buffer, from: number, to: number, left: number): Buffer {
    const size = to - from;
    if (size > this.#reserved.length - this.#filled) {
      const reserved =
        left > size ? Buffer.allocUnsafeSlow(Math.max(size, Math.min(left, MAX_RESERVED_BYTES))) : NOTHING;
      this.#reserved = reserved;
      this.#filled = 0;
      if (reserved === NOTHING) {
        const copy = Buffer.allocUnsafe(size);
        bytes.copy(copy, 0, from, to);
        return copy;
      }
    }
    bytes.copy(this.#reserved, this.#filled, from, to);
    const part = this.#reserved.subarray(this.#filled, this.#filled + size);
    this.#filled += size;
    return part;
  }
}
