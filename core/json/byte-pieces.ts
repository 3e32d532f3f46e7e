/** A piece of a message: text to be encoded, or bytes that are written unchanged. */
export type Part = string | Buffer;

/** Joins parts into one buffer with one allocation. */
export function joinParts(parts: readonly Part[]): Buffer {
  let size = 0;
  for (const part of parts) size += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
  const joined = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) at += typeof part === 'string' ? joined.write(part, at) : part.copy(joined, at);
  return joined;
}

/**
 * Collects bytes that arrive in pieces, in memory of about their own size: small pieces are copied together, because
 * each buffer costs about a hundred bytes.
 */
export class ByteCollector {
  #first: Buffer | undefined;
  #full: Buffer[] | undefined;
  #tail: Buffer | undefined;
  #filled = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a piece. A single piece, and pieces that are next to each other in memory, are not copied. */
  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    const first = this.#first;
    if (first === undefined) this.#first = asBuffer(piece);
    else if (this.#tail === undefined && isNext(first, piece)) {
      this.#first = Buffer.from(first.buffer, first.byteOffset, first.length + piece.length);
    } else this.#copy(piece);
  }

  /** All bytes in one buffer; once. The memory of each piece is freed as soon as it is copied, so that it is not needed twice. */
  whole(): Buffer {
    if (this.#tail === undefined) return this.#first ?? NOTHING;
    if (this.#full === undefined) return Buffer.concat([this.#first ?? NOTHING, this.#tail], this.#bytes);
    const whole = Buffer.allocUnsafeSlow(this.#bytes);
    let at = (this.#first ?? NOTHING).copy(whole);
    for (const piece of this.#full) {
      at += piece.copy(whole, at);
      (piece.buffer as ArrayBuffer).transfer(0); // no one else has it, and the next collection may come late
    }
    this.#tail.copy(whole, at, 0, this.#bytes - at);
    return whole;
  }

  #copy(piece: Uint8Array): void {
    for (let from = 0; from < piece.length; ) {
      const tail = this.#space();
      const take = Math.min(piece.length - from, tail.length - this.#filled);
      tail.set(piece.subarray(from, from + take), this.#filled);
      this.#filled += take;
      from += take;
    }
  }

  /** The unused part of the last buffer is not part of the result. */
  #space(): Buffer {
    const tail = this.#tail;
    if (tail !== undefined && this.#filled < tail.length) return tail;
    if (tail !== undefined) {
      this.#full ??= [];
      this.#full.push(tail);
    }
    this.#filled = 0;
    this.#tail = Buffer.allocUnsafeSlow(tail === undefined ? FIRST_TAIL_BYTES : tailBytes(this.#bytes));
    return this.#tail;
  }
}

function asBuffer(piece: Uint8Array): Buffer {
  return Buffer.isBuffer(piece) ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.length);
}

function isNext(before: Buffer, piece: Uint8Array): boolean {
  return piece.buffer === before.buffer && piece.byteOffset === before.byteOffset + before.length;
}

const NOTHING = Buffer.alloc(0);
const FIRST_TAIL_BYTES = 4_096; // most bodies in several pieces have two

/** Large pieces are returned to the system when they are freed. */
function tailBytes(arrived: number): number {
  return arrived <= 4_194_304 ? 65_536 : 1_048_576;
}

/** The received bytes as one buffer without a byte order mark; a single piece is not copied. */
export function joined(arrived: ByteCollector): Buffer {
  const body = arrived.whole();
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/** Total length of several buffers. */
export function byteLength(parts: readonly Buffer[]): number {
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  return bytes;
}

/** Whether a text has more than `bytes` bytes in UTF-8. A short text is not counted. */
export function isLongerThan(text: string, bytes: number): boolean {
  if (text.length * MOST_PER_UNIT <= bytes) return false;
  return text.length > bytes || Buffer.byteLength(text) > bytes;
}

const MOST_PER_UNIT = 3; // bytes in UTF-8 of one UTF-16 code unit
