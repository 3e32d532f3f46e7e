/** A streaming parser of one JSON text. */
export interface VectorJson {
  /** Parses the next bytes without keeping them. Never throws; `end` reports errors. */
  push(bytes: Uint8Array): void;
  /**
   * The value of the text, in which each list of numbers is a `Float32Array`.
   * @throws RangeError for an exceeded bound; TypeError for a list with other values than numbers; SyntaxError for invalid
   * JSON, whose message may quote the text
   */
  end(): unknown;
}

/** Bounds of one text. */
export interface VectorBounds {
  /** Lists of numbers, besides a few others. */
  readonly vectors: number;
  /** Numbers of one list. */
  readonly numbers: number;
}

/** Characters of one number; a double has at most 25. */
const MAX_NUMBER_BYTES = 64;
/** Everything except lists of numbers: member names, token counts. */
const MAX_REST_BYTES = 1024 * 1024;
/** Lists of numbers besides the vectors. */
const MAX_OTHER_LISTS = 16;
const FIRST_NUMBERS = 512;
const FIRST_REST_BYTES = 1024;

const [QUOTE, COMMA, MINUS, PLUS, DOT, ZERO, NINE] = [0x22, 0x2c, 0x2d, 0x2b, 0x2e, 0x30, 0x39];
const [OPENING, BACKSLASH, CLOSING, LOWER_E, BIT_OF_CASE] = [0x5b, 0x5c, 0x5d, 0x65, 0x20];

/** The parser's state: outside or inside a list of numbers. */
const STATE = { rest: 0, text: 1, escaped: 2, opened: 3, number: 4, behind: 5, next: 6 } as const;
type ReaderState = (typeof STATE)[keyof typeof STATE];

/**
 * Parses vectors without intermediate texts and arrays of JavaScript numbers: these are ten times larger than the vectors,
 * and an idle gateway would keep them until the next major garbage collection.
 *
 * Lists of numbers are parsed here; each number equals the result of `JSON.parse`, rounded to 32 bits. In the remaining text
 * each list is replaced by `[n]` with its index, which no other value looks like; `JSON.parse` parses that text.
 */
export function readVectorJson(bounds: VectorBounds): VectorJson {
  const rest = bytesUpTo(MAX_REST_BYTES);
  const lists = listsWithin(bounds);
  const partialNumber = new Uint8Array(MAX_NUMBER_BYTES); // the first part of a number that continues in the next piece
  let partialBytes = 0;
  let state: ReaderState = STATE.rest;
  let problem: Error | undefined;

  /** Parses a number from `from` on; returns its end. */
  const readNumber = (bytes: Uint8Array, from: number): number => {
    let to = from;
    while (to < bytes.length && isOfNumber(bytes[to] as number)) to += 1;
    if (partialBytes === 0 && to < bytes.length) {
      lists.add(numberIn(bytes, from, to));
    } else {
      if (partialBytes + to - from > MAX_NUMBER_BYTES)
        throw new RangeError(`answered a number of more than ${MAX_NUMBER_BYTES} characters`);
      partialNumber.set(bytes.subarray(from, to), partialBytes);
      partialBytes += to - from;
      if (to === bytes.length) return to;
      lists.add(numberIn(partialNumber, 0, partialBytes));
      partialBytes = 0;
    }
    state = STATE.behind;
    return to;
  };

  const closeList = (): void => {
    rest.addText(`[${lists.close()}]`);
    state = STATE.rest;
  };

  const readOther = (byte: number): void => {
    if (state === STATE.text || state === STATE.escaped) {
      rest.add(byte);
      if (state === STATE.escaped) state = STATE.text;
      else if (byte === BACKSLASH) state = STATE.escaped;
      else if (byte === QUOTE) state = STATE.rest;
      return;
    }
    if (state === STATE.rest && byte === OPENING) state = STATE.opened;
    else if (state === STATE.rest) {
      rest.add(byte);
      if (byte === QUOTE) state = STATE.text;
    } else if (isBlank(byte)) return;
    else if (state === STATE.opened) {
      rest.add(OPENING); // a list of other values
      state = STATE.rest;
      readOther(byte);
    } else if (state === STATE.behind && byte === COMMA) state = STATE.next;
    else if (state === STATE.behind && byte === CLOSING) closeList();
    else throw new TypeError('answered a vector with other values than numbers');
  };

  const read = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) {
      const byte = bytes[at] as number;
      const isNumber = state === STATE.number || ((state === STATE.opened || state === STATE.next) && isStart(byte));
      if (isNumber) {
        state = STATE.number;
        at = readNumber(bytes, at);
      } else {
        readOther(byte);
        at += 1;
      }
    }
  };

  return {
    push(bytes) {
      if (problem !== undefined) return;
      try {
        read(bytes);
      } catch (cause) {
        problem = cause as Error;
      }
    },
    end() {
      if (problem !== undefined) throw problem;
      if (state !== STATE.rest) throw new SyntaxError('unexpected end of JSON');
      return JSON.parse(rest.text(), (_, value: unknown) => lists.named(value) ?? value);
    },
  };
}

/** The vectors of one text in one block, as long as they have the same length. */
function listsWithin({ vectors, numbers }: VectorBounds) {
  const done: Float32Array[] = [];
  let open = new Float32Array(Math.min(FIRST_NUMBERS, numbers));
  let length = 0;
  let block: Float32Array | undefined;
  let filled = 0;
  return {
    add(value: number): void {
      if (length === numbers) throw new RangeError(`expected vectors of 1 to ${numbers} numbers`);
      if (length === open.length) {
        const wider = new Float32Array(Math.min(length * 2, numbers));
        wider.set(open);
        open = wider;
      }
      open[length] = value;
      length += 1;
    },
    /** Ends a vector and returns its index. */
    close(): number {
      if (done.length === vectors + MAX_OTHER_LISTS) throw new RangeError(`expected ${vectors} vectors`);
      block ??= new Float32Array(vectors * length);
      const end = filled + length;
      const list = end <= block.length ? block.subarray(filled, end) : new Float32Array(length);
      list.set(open.subarray(0, length));
      if (end <= block.length) filled = end;
      length = 0;
      return done.push(list) - 1;
    },
    /** The vector for a placeholder `[n]` of the remaining text. */
    named: (value: unknown): Float32Array | undefined =>
      Array.isArray(value) && value.length === 1 && typeof value[0] === 'number' ? done[value[0]] : undefined,
  };
}

function bytesUpTo(most: number) {
  let bytes = Buffer.allocUnsafe(FIRST_REST_BYTES);
  let length = 0;
  const add = (byte: number): void => {
    if (length === most) throw new RangeError(`answered more than ${most} bytes besides the vectors`);
    if (length === bytes.length) bytes = Buffer.concat([bytes], length * 2);
    bytes[length] = byte;
    length += 1;
  };
  return {
    add,
    addText(text: string): void {
      for (let at = 0; at < text.length; at += 1) add(text.charCodeAt(at));
    },
    text: () => bytes.toString('utf8', 0, length),
  };
}

/** Powers of ten that are exact as doubles. */
const TENS = Array.from({ length: 23 }, (_, power) => 10 ** power);
const MAX_EXACT_DIGITS = 15;
const MAX_DIGITS = 21; // more digits would add rounding errors
const MAX_POWER = 1_000; // larger exponents are parsed by `Number`
/** Upper bound of the relative error of a rounded mantissa times a power of ten. */
const MAX_RELATIVE_ERROR = 1e-14;

/**
 * Parses a JSON number. Rounded to 32 bits it equals the rounded result of `JSON.parse`.
 *
 * Up to 15 digits and a small power of ten are exact as doubles, so one division rounds as `Number` does. With more digits
 * the result is close enough unless it is near a rounding boundary of 32 bits; `Number` parses those, and large exponents.
 * @throws SyntaxError for an invalid number
 */
function numberIn(bytes: Uint8Array, from: number, to: number): number {
  let at = bytes[from] === MINUS ? from + 1 : from;
  const isNegative = at > from;
  const start = at;
  let [mantissa, digits, power] = [0, 0, 0];
  for (; at < to && isDigit(bytes[at] as number); at += 1) {
    mantissa = mantissa * 10 + ((bytes[at] as number) - ZERO);
    if (mantissa > 0) digits += 1;
  }
  if (at === start || (bytes[start] === ZERO && at > start + 1)) throw invalidNumber();
  if (at < to && bytes[at] === DOT) {
    const point = at;
    for (at += 1; at < to && isDigit(bytes[at] as number); at += 1) {
      mantissa = mantissa * 10 + ((bytes[at] as number) - ZERO);
      if (mantissa > 0) digits += 1;
    }
    power = point + 1 - at;
    if (power === 0) throw invalidNumber();
  }
  if (at < to && ((bytes[at] as number) | BIT_OF_CASE) === LOWER_E) {
    at += 1;
    const sign = bytes[at] === MINUS ? -1 : 1;
    if (bytes[at] === MINUS || bytes[at] === PLUS) at += 1;
    const first = at;
    let exponent = 0;
    for (; at < to && isDigit(bytes[at] as number); at += 1) {
      exponent = Math.min(exponent * 10 + (bytes[at] as number) - ZERO, MAX_POWER);
    }
    if (at === first) throw invalidNumber();
    power += sign * exponent;
  }
  if (at !== to) throw invalidNumber();
  const tens = TENS[Math.abs(power)];
  if (tens === undefined || digits > MAX_DIGITS) return Number(textOf(bytes, from, to));
  const value = power < 0 ? mantissa / tens : mantissa * tens;
  const isExact =
    digits <= MAX_EXACT_DIGITS ||
    Math.fround(value * (1 - MAX_RELATIVE_ERROR)) === Math.fround(value * (1 + MAX_RELATIVE_ERROR));
  if (!isExact) return Number(textOf(bytes, from, to));
  return isNegative ? -value : value;
}

function invalidNumber(): SyntaxError {
  return new SyntaxError('invalid JSON number');
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isStart(byte: number): boolean {
  return isDigit(byte) || byte === MINUS;
}

function isOfNumber(byte: number): boolean {
  return isStart(byte) || byte === DOT || byte === PLUS || (byte | BIT_OF_CASE) === LOWER_E;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
