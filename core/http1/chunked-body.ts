import { BodyMemory } from './body-memory.ts';
import { MalformedResponse } from './response-head.ts';

/** Longest line with a chunk size or a trailer, in bytes. */
const MAX_LINE_BYTES = 1_024;
/** Trailers are skipped. */
const MAX_TRAILERS = 64;

const LF = 0x0a;
const CR = 0x0d;
/** Up to 4 GiB per chunk; extensions are skipped (RFC 9112 §7.1.1). */
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n\0]*)?$/;

/** Decodes the chunked transfer coding (RFC 9112 §7.1) of a body that arrives in pieces of any size. */
export class ChunkedBody {
  #state: 'size' | 'data' | 'dataEnd' | 'trailers' | 'done' = 'size';
  #left = 0;
  #line = '';
  #trailers = 0;
  /** For chunks that are longer than what is read at once. */
  #memory: BodyMemory | undefined;

  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * Reads a piece; `taken` gets its data in buffers that it may keep.
   * @returns how many of the bytes belong to this body
   * @throws MalformedResponse
   */
  read(bytes: Buffer, taken: (data: Buffer) => void): number {
    let small: Buffer | undefined;
    let size = 0;
    let at = 0;
    const give = (): void => {
      if (small === undefined || size === 0) return;
      // Copied, so that little data between long extensions does not keep all bytes read in memory.
      taken(size < small.length / 2 ? Buffer.from(small.subarray(0, size)) : small.subarray(0, size));
      small = undefined;
      size = 0;
    };
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state !== 'data') {
        at = this.#readLine(bytes, at);
        continue;
      }
      const end = Math.min(at + this.#left, bytes.length);
      if (this.#memory !== undefined || at + this.#left > bytes.length) {
        give();
        this.#memory ??= new BodyMemory();
        taken(this.#memory.copy(bytes, at, end, this.#left));
      } else {
        small ??= Buffer.allocUnsafe(bytes.length - at);
        size += bytes.copy(small, size, at, end);
      }
      this.#left -= end - at;
      at = end;
      if (this.#left > 0) continue;
      this.#state = 'dataEnd';
      this.#memory = undefined;
    }
    give();
    return at;
  }

  /** Reads to the end of the line or of the bytes; returns the position after what was read. */
  #readLine(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at);
    const end = lf === -1 ? bytes.length : lf;
    this.#line += bytes.toString('latin1', at, end);
    if (this.#line.length > MAX_LINE_BYTES) throw new MalformedResponse('a line between chunks is too long');
    if (lf === -1) return end;
    if (this.#line.charCodeAt(this.#line.length - 1) !== CR) throw new MalformedResponse('a chunk line has no CR');
    const line = this.#line.slice(0, -1);
    this.#line = '';
    this.#took(line);
    return lf + 1;
  }

  #took(line: string): void {
    if (this.#state === 'dataEnd') {
      if (line !== '') throw new MalformedResponse('a chunk is longer than its size');
      this.#state = 'size';
      return;
    }
    if (this.#state === 'trailers') {
      if (line === '') this.#state = 'done';
      else if (++this.#trailers > MAX_TRAILERS) throw new MalformedResponse('too many trailers');
      return;
    }
    const size = SIZE_LINE.exec(line)?.[1];
    if (size === undefined) throw new MalformedResponse('a chunk has no size');
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailers' : 'data';
  }
}
