/** One event of an event stream. `data` is the joined data lines, undecoded. */
export interface SseEvent {
  /** `message` when the stream names none. */
  readonly name: string;
  readonly data: Buffer;
}

/** The event or line being read is larger than allowed. */
export class SseTooLarge extends Error {}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const EMPTY = Buffer.alloc(0);
const LF_BYTES = Buffer.from('\n');
const DIGITS = /^[0-9]+$/;

/**
 * Cuts an event stream into events without decoding their data, so JSON inside stays byte-equal.
 *
 * Shape: lines end with LF, CR or CRLF; comments and unknown fields are skipped; an event without data is not given
 * out but its id counts. `lastEventId` and `retryMs` hold what the stream said last.
 * Fails: SseTooLarge when one event passes `maxBytes`.
 * Source: WHATWG HTML, server-sent events.
 */
export class SseFrames {
  lastEventId: string | undefined;
  retryMs: number | undefined;
  readonly #maxBytes: number;
  readonly #onEvent: (event: SseEvent) => void;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #afterCr = false;
  #first = true;
  #data: Buffer[] = [];
  #dataBytes = 0;
  #name = '';
  #id: string | undefined;

  constructor(maxBytes: number, onEvent: (event: SseEvent) => void) {
    this.#maxBytes = maxBytes;
    this.#onEvent = onEvent;
  }

  /** Reads on; events complete in this chunk are given out before it returns. */
  push(chunk: Buffer): void {
    let at = 0;
    if (this.#afterCr && chunk.length > 0) {
      this.#afterCr = false;
      if (chunk[0] === LF) at = 1;
    }
    while (at < chunk.length) {
      const end = lineEnd(chunk, at);
      if (end === -1) {
        this.#keep(chunk.subarray(at));
        return;
      }
      this.#endLine(chunk.subarray(at, end));
      at = end + 1;
      if (chunk[end] !== CR) continue;
      if (at === chunk.length) this.#afterCr = true;
      else if (chunk[at] === LF) at++;
    }
  }

  /** Drops what is half read, for a stream that goes on over a new connection; id and retry time stay. */
  restart(): void {
    this.#line = [];
    this.#lineBytes = 0;
    this.#afterCr = false;
    this.#first = true;
    this.#data = [];
    this.#dataBytes = 0;
    this.#name = '';
    this.#id = undefined;
  }

  #keep(part: Buffer): void {
    this.#line.push(part);
    this.#lineBytes += part.length;
    this.#check();
  }

  #check(): void {
    if (this.#lineBytes + this.#dataBytes > this.#maxBytes) throw new SseTooLarge('event over its limit');
  }

  #endLine(last: Buffer): void {
    let line: Buffer = last;
    if (this.#line.length > 0) {
      this.#line.push(last);
      line = Buffer.concat(this.#line);
      this.#line = [];
      this.#lineBytes = 0;
    }
    if (this.#first) {
      this.#first = false;
      if (line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) line = line.subarray(3); // byte order mark
    }
    if (line.length === 0) return this.#endEvent();
    if (line[0] === COLON) return;
    this.#field(line);
  }

  #field(line: Buffer): void {
    const colon = line.indexOf(COLON);
    const name = line.toString('latin1', 0, colon === -1 ? line.length : colon);
    let value: Buffer = EMPTY;
    if (colon !== -1) value = line.subarray(line[colon + 1] === SPACE ? colon + 2 : colon + 1);
    if (name === 'data') {
      if (this.#data.length > 0) this.#data.push(LF_BYTES);
      this.#data.push(value);
      this.#dataBytes += value.length + 1;
      this.#check();
      return;
    }
    if (name === 'event') this.#name = value.toString('utf8');
    if (name === 'id' && !value.includes(0)) this.#id = value.toString('utf8');
    if (name === 'retry') this.#retry(value.toString('latin1'));
  }

  #retry(value: string): void {
    if (DIGITS.test(value)) this.retryMs = Number(value);
  }

  #endEvent(): void {
    const parts = this.#data;
    const name = this.#name === '' ? 'message' : this.#name;
    this.#name = '';
    // Only a whole event moves the id: a stream that breaks inside one must send it again.
    if (this.#id !== undefined) this.lastEventId = this.#id;
    if (parts.length === 0) return;
    this.#data = [];
    this.#dataBytes = 0;
    const data = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    this.#onEvent({ name, data });
  }
}

/** The nearest line end from `at`, -1 for none. A CR is looked for only before the LF: data may be megabytes. */
function lineEnd(chunk: Buffer, at: number): number {
  const lf = chunk.indexOf(LF, at);
  const cr = (lf === -1 ? chunk.subarray(at) : chunk.subarray(at, lf)).indexOf(CR);
  return cr === -1 ? lf : at + cr;
}
