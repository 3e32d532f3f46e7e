/** Reads one JSON text as it comes, piece by piece. */
export interface VectorJson {
  /** Takes the next bytes and keeps none of them. Fails: nothing; what is wrong is said at the end. */
  push(bytes: Uint8Array): void;
  /**
   * The value of the text, in which each list of numbers is a `Float32Array`.
   * @throws RangeError or TypeError saying which bound was passed, or that a list holds something beside numbers;
   * SyntaxError when it is not JSON, with words that may quote it
   */
  end(): unknown;
}

/** How much one text may hold. */
export interface VectorBounds {
  /** Lists of numbers, a few others aside. */
  readonly vectors: number;
  /** Numbers of one list. */
  readonly numbers: number;
}

/** Characters of one number; a double in full has 25. */
const MAX_NUMBER_BYTES = 64;
/** All that is no list of numbers: names of members, counts of tokens. */
const MAX_REST_BYTES = 1024 * 1024;
/** Lists of numbers that are no vectors, which a service may have put beside them. */
const MAX_OTHER_LISTS = 16;
const FIRST_NUMBERS = 512;
const FIRST_REST_BYTES = 1024;

const [QUOTE, COMMA, MINUS, PLUS, DOT, ZERO, NINE] = [0x22, 0x2c, 0x2d, 0x2b, 0x2e, 0x30, 0x39];
const [OPENING, BACKSLASH, CLOSING, LOWER_E, BIT_OF_CASE] = [0x5b, 0x5c, 0x5d, 0x65, 0x20];

/** Where the reader stands: outside of lists of numbers, or at which place of one. */
const AT = { rest: 0, text: 1, escaped: 2, opened: 3, number: 4, behind: 5, next: 6 } as const;
type Place = (typeof AT)[keyof typeof AT];

/**
 * Reads vectors without the detour over texts and lists of JavaScript numbers: those are ten times the size of the vectors,
 * and live until the engine next collects its old generation, which an idle gateway does not.
 *
 * Lists of numbers are read here, each number to what `JSON.parse` makes of it, rounded to 32 bits. In what is left of the
 * text a list stands as `[n]`, its own number, which nothing else can look like; `JSON.parse` reads that.
 */
export function readVectorJson(bounds: VectorBounds): VectorJson {
  const rest = bytesUpTo(MAX_REST_BYTES);
  const lists = listsWithin(bounds);
  const carried = new Uint8Array(MAX_NUMBER_BYTES); // of a number that goes on in the next piece
  let carriedBytes = 0;
  let place: Place = AT.rest;
  let problem: Error | undefined;

  /** Reads a number from `from` on, and says where it ended. */
  const readNumber = (bytes: Uint8Array, from: number): number => {
    let to = from;
    while (to < bytes.length && isOfNumber(bytes[to] as number)) to += 1;
    if (carriedBytes === 0 && to < bytes.length) {
      lists.add(numberIn(bytes, from, to));
    } else {
      if (carriedBytes + to - from > MAX_NUMBER_BYTES)
        throw new RangeError(`answered a number of more than ${MAX_NUMBER_BYTES} characters`);
      carried.set(bytes.subarray(from, to), carriedBytes);
      carriedBytes += to - from;
      if (to === bytes.length) return to;
      lists.add(numberIn(carried, 0, carriedBytes));
      carriedBytes = 0;
    }
    place = AT.behind;
    return to;
  };

  const closeList = (): void => {
    rest.addText(`[${lists.close()}]`);
    place = AT.rest;
  };

  const readOther = (byte: number): void => {
    if (place === AT.text || place === AT.escaped) {
      rest.add(byte);
      if (place === AT.escaped) place = AT.text;
      else if (byte === BACKSLASH) place = AT.escaped;
      else if (byte === QUOTE) place = AT.rest;
      return;
    }
    if (place === AT.rest && byte === OPENING) place = AT.opened;
    else if (place === AT.rest) {
      rest.add(byte);
      if (byte === QUOTE) place = AT.text;
    } else if (isBlank(byte)) return;
    else if (place === AT.opened) {
      rest.add(OPENING); // a list of something else
      place = AT.rest;
      readOther(byte);
    } else if (place === AT.behind && byte === COMMA) place = AT.next;
    else if (place === AT.behind && byte === CLOSING) closeList();
    else throw new TypeError('answered a vector with something else than numbers');
  };

  const read = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) {
      const byte = bytes[at] as number;
      const isNumber = place === AT.number || ((place === AT.opened || place === AT.next) && isStart(byte));
      if (isNumber) {
        place = AT.number;
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
      if (place !== AT.rest) throw new SyntaxError('the text is torn');
      return JSON.parse(rest.text(), (_, value: unknown) => lists.named(value) ?? value);
    },
  };
}

/** The vectors of one text, one after the other in one block, as long as they are of one length. */
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
    /** Ends a vector, and says which it is. */
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
    /** The vector that a value of what is left stands for. */
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

/** Powers of ten that a double holds exactly. */
const TENS = Array.from({ length: 23 }, (_, power) => 10 ** power);
const MAX_EXACT_DIGITS = 15;
const MAX_DIGITS = 21; // further sums would be further wrong
const MAX_POWER = 1_000; // further digits of an exponent change nothing: `Number` reads those
/** More than the product of a rounded mantissa and a power of ten is wrong by. */
const DOUBT = 1e-14;

/**
 * The number in some bytes, by the grammar of JSON: rounded to 32 bits it is what `JSON.parse` makes of it, so rounded.
 *
 * With up to 15 digits and a small power of ten both are exact as doubles, so one division rounds as `Number` does. With
 * more digits the result is near enough, unless 32 bits end right beside it; those, and large powers, are left to `Number`.
 * @throws SyntaxError they are none
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
  if (at === start || (bytes[start] === ZERO && at > start + 1)) throw noNumber();
  if (at < to && bytes[at] === DOT) {
    const point = at;
    for (at += 1; at < to && isDigit(bytes[at] as number); at += 1) {
      mantissa = mantissa * 10 + ((bytes[at] as number) - ZERO);
      if (mantissa > 0) digits += 1;
    }
    power = point + 1 - at;
    if (power === 0) throw noNumber();
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
    if (at === first) throw noNumber();
    power += sign * exponent;
  }
  if (at !== to) throw noNumber();
  const tens = TENS[Math.abs(power)];
  if (tens === undefined || digits > MAX_DIGITS) return Number(textOf(bytes, from, to));
  const value = power < 0 ? mantissa / tens : mantissa * tens;
  const isSure = digits <= MAX_EXACT_DIGITS || Math.fround(value * (1 - DOUBT)) === Math.fround(value * (1 + DOUBT));
  if (!isSure) return Number(textOf(bytes, from, to));
  return isNegative ? -value : value;
}

function noNumber(): SyntaxError {
  return new SyntaxError('a number is not one of JSON');
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
