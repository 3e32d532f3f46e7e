import { ByteCollector } from '../../json/byte-pieces.ts';

const LF = 0x0a;
const CR = 0x0d;

/**
 * Splits a byte stream into lines without decoding them.
 *
 * Shape: lines end with LF, a CR before it is dropped, empty lines are skipped.
 * A line over `maxBytes` is discarded up to its end and reported once as `tooLong`.
 */
export class Lines {
  readonly #maxBytes: number;
  readonly #onLine: (line: Buffer) => void;
  readonly #onTooLong: () => void;
  #line = new ByteCollector();
  #skipping = false;

  constructor(maxBytes: number, onLine: (line: Buffer) => void, onTooLong: () => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  /** Bytes of the line that is not complete. */
  get pendingBytes(): number {
    return this.#line.bytes;
  }

  /** Discards the line that is not complete, up to its end. */
  skipLine(): void {
    this.#skipping = true;
    this.#line = new ByteCollector();
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const end = chunk.indexOf(LF, at);
      if (end === -1) return this.#keep(chunk.subarray(at));
      this.#keep(chunk.subarray(at, end));
      this.#endLine();
      at = end + 1;
    }
  }

  #keep(part: Buffer): void {
    if (this.#skipping) return;
    if (this.#line.bytes + part.length <= this.#maxBytes) return this.#line.add(part);
    this.skipLine();
    this.#onTooLong();
  }

  #endLine(): void {
    const arrived = this.#line;
    const skipped = this.#skipping;
    this.#line = new ByteCollector();
    this.#skipping = false;
    if (skipped) return;
    const joined = arrived.whole();
    const line = joined.at(-1) === CR ? joined.subarray(0, -1) : joined;
    if (line.length > 0) this.#onLine(line);
  }
}
