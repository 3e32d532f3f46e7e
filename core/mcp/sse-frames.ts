import { ByteCollector } from '../json/byte-pieces.ts';

/** One event of an event stream. `data` is the joined data lines, undecoded. */
export interface SseEvent {
  /** `message` when the stream sets no name. */
  readonly name: string;
  readonly data: Buffer;
}

/** The current event or line exceeds the size limit. */
export class SseTooLarge extends Error {}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const EMPTY = Buffer.alloc(0);
const LF_BYTES = Buffer.from('\n');
const DIGITS = /^[0-9]+$/;

/**
 * Splits an event stream into events without decoding their data, so that JSON inside stays byte-equal.
 *
 * Shape: lines end with LF, CR or CRLF; comments and unknown fields are skipped; an event without data is not emitted,
 * but its id is stored. `lastEventId` and `retryMs` hold the latest values of the stream.
 * Fails: SseTooLarge when one event exceeds `maxBytes`.
 * Source: WHATWG HTML, server-sent events.
 */
export class SseFrames {
  lastEventId: string | undefined;
  retryMs: number | undefined;
  readonly #maxBytes: number;
  readonly #onEvent: (event: SseEvent) => void;
  #line: ByteCollector | undefined;
  #afterCr = false;
  #first = true;
  /** An event may have as many lines as bytes, so each line is stored as bytes. */
  #data: ByteCollector | undefined;
  #name = '';
  #id: string | undefined;

  constructor(maxBytes: number, onEvent: (event: SseEvent) => void) {
    this.#maxBytes = maxBytes;
    this.#onEvent = onEvent;
  }

  /** Reads a chunk; events that it completes are emitted before this returns. */
  push(chunk: Buffer): void {
    let at = 0;
    if (this.#afterCr && chunk.length > 0) {
      this.#afterCr = false;
      if (chunk[0] === LF) at = 1;
    }
    // Each line break character is searched once: searching again for every line would be quadratic when only the other
    // one occurs.
    let lf = -1;
    let cr = -1;
    while (at < chunk.length) {
      if (lf < at) lf = nextOrEnd(chunk, LF, at);
      if (cr < at) cr = nextOrEnd(chunk, CR, at);
      const end = Math.min(lf, cr);
      if (end === chunk.length) return this.#keep(chunk.subarray(at));
      this.#endLine(chunk.subarray(at, end));
      at = end + 1;
      if (chunk[end] !== CR) continue;
      if (at === chunk.length) this.#afterCr = true;
      else if (chunk[at] === LF) at++;
    }
  }

  /** Bytes of the event that is not complete. */
  get pendingBytes(): number {
    return (this.#line?.bytes ?? 0) + (this.#data?.bytes ?? 0);
  }

  /** Drops a partial event when the stream continues on a new connection; id and retry time are kept. */
  restart(): void {
    this.#line = undefined;
    this.#afterCr = false;
    this.#first = true;
    this.#data = undefined;
    this.#name = '';
    this.#id = undefined;
  }

  #keep(part: Buffer): void {
    this.#line ??= new ByteCollector();
    this.#line.add(part);
    this.#check();
  }

  #check(): void {
    if (this.pendingBytes > this.#maxBytes) throw new SseTooLarge('the event is too large');
  }

  #endLine(last: Buffer): void {
    let line: Buffer = last;
    if (this.#line !== undefined) {
      this.#line.add(last);
      line = this.#line.whole();
      this.#line = undefined;
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
      if (this.#data === undefined) this.#data = new ByteCollector();
      else this.#data.add(LF_BYTES);
      this.#data.add(value);
      return this.#check();
    }
    if (name === 'event') this.#name = value.toString('utf8');
    if (name === 'id' && !value.includes(0)) this.#id = value.toString('utf8');
    if (name === 'retry') this.#retry(value.toString('latin1'));
  }

  #retry(value: string): void {
    if (DIGITS.test(value)) this.retryMs = Number(value);
  }

  #endEvent(): void {
    const data = this.#data;
    const name = this.#name === '' ? 'message' : this.#name;
    this.#name = '';
    // Only a complete event sets the id: a stream that breaks inside one must send it again.
    if (this.#id !== undefined) this.lastEventId = this.#id;
    if (data === undefined) return;
    this.#data = undefined;
    this.#onEvent({ name, data: data.whole() });
  }
}

function nextOrEnd(chunk: Buffer, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at === -1 ? chunk.length : at;
}
