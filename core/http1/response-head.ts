import { internedText } from '../json/json-string.ts';
import type { ResponseHead } from './http-client.ts';

/** A response head with what its connection needs to know of it. */
export interface ParsedHead extends ResponseHead {
  /** Bytes of the body; {@link CHUNKED} and {@link UNTIL_CLOSE} are others. */
  readonly length: number;
  /** Whether the connection can be reused. */
  readonly persistent: boolean;
  /** Milliseconds after which the server closes an idle connection; `undefined` when it does not say. */
  readonly idleMs: number | undefined;
}

/** The body ends with its last chunk. */
export const CHUNKED = -1;
/** The body ends with the connection. */
export const UNTIL_CLOSE = -2;

/**
 * Parses the head of a response (RFC 9112 §4, §5, §6.3), strictly: a head that two readers could interpret differently
 * is refused.
 * @param bytes up to the empty line, without it; nothing of them is kept
 * @param keptHeaders names in lower case of other headers to keep
 * @throws MalformedResponse
 */
export function readResponseHead(bytes: Buffer, keptHeaders: ReadonlySet<string> = NONE): ParsedHead {
  let at = statusLineEnd(bytes);
  const status = (digit(bytes, 9) * 10 + digit(bytes, 10)) * 10 + digit(bytes, 11);
  const head = new Fields(status, bytes[7] === ZERO + 1);
  while (at < bytes.length) {
    const start = at + 2;
    let colon = start;
    while (TOKEN[bytes[colon] as number] === 1) colon++;
    if (colon === start || bytes[colon] !== COLON) {
      throw new MalformedResponse('a response header has an invalid name');
    }
    at = lineEnd(bytes, colon + 1);
    const name = internedText(bytes, start, colon).toLowerCase();
    const take = TAKERS.get(name);
    if (take !== undefined) take(head, trimmed(bytes, colon + 1, at));
    else if (keptHeaders.has(name)) head.keep(name, trimmed(bytes, colon + 1, at));
  }
  head.settle();
  return head;
}

/** `HTTP/1.1 200 OK`, with or without the reason phrase. */
function statusLineEnd(bytes: Buffer): number {
  for (let n = 0; n < VERSION.length; n++) if (bytes[n] !== VERSION[n]) throw noStatusLine();
  const minor = digit(bytes, 7);
  const isSound = minor <= 1 && bytes[8] === SPACE && digit(bytes, 9) >= 1 && digit(bytes, 9) <= 5;
  if (!isSound || digit(bytes, 10) > 9 || digit(bytes, 11) > 9) throw noStatusLine();
  if (bytes.length > 12 && bytes[12] !== SPACE && bytes[12] !== CR) throw noStatusLine();
  return lineEnd(bytes, 12);
}

/** The end of the line: its CR, or the end of the head. */
function lineEnd(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === CR && bytes[at + 1] === LF && at + 2 < bytes.length) return at;
    if (byte === CR || byte === LF || byte === 0) {
      throw new MalformedResponse('a response header has a stray line break or NUL');
    }
  }
  return at;
}

/** Without surrounding white space. */
function trimmed(bytes: Buffer, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  return internedText(bytes, start, end);
}

/** More than 9 for anything but a digit. */
function digit(bytes: Buffer, at: number): number {
  const value = (bytes[at] ?? 0) - ZERO;
  return value >= 0 && value <= 9 ? value : 10;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function noStatusLine(): MalformedResponse {
  return new MalformedResponse('the response does not start with a status line');
}

const NONE: ReadonlySet<string> = new Set();
const VERSION = Buffer.from('HTTP/1.');
const [TAB, LF, CR, SPACE, ZERO, COLON] = [0x09, 0x0a, 0x0d, 0x20, 0x30, 0x3a];
/** Bytes of a header name (RFC 9110 §5.6.2). */
const TOKEN = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0,
);
const DIGITS = /^\d{1,15}$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})/i;

class Fields implements ParsedHead {
  readonly status: number;
  contentType: string | undefined;
  location: string | undefined;
  contentEncoding: string | undefined;
  length = UNTIL_CLOSE;
  persistent: boolean;
  idleMs: number | undefined;
  #coding: string | undefined;
  #kept: Map<string, string> | undefined;
  #declared: string | undefined;

  constructor(status: number, persistent: boolean) {
    this.status = status;
    this.persistent = persistent;
  }

  header(name: string): string | undefined {
    return this.#kept?.get(name);
  }

  keep(name: string, value: string): void {
    this.#kept ??= new Map();
    if (!this.#kept.has(name)) this.#kept.set(name, value);
  }

  /** `Content-Length` */
  declare(value: string): void {
    if (!DIGITS.test(value)) throw new MalformedResponse('the Content-Length of the response is not a number');
    if (this.#declared !== undefined && this.#declared !== value) {
      throw new MalformedResponse('the response has two lengths');
    }
    this.#declared = value;
  }

  /** `Transfer-Encoding` */
  encode(coding: string): void {
    this.#coding = this.#coding === undefined ? coding : `${this.#coding}, ${coding}`;
  }

  /** `Connection` */
  connect(options: string): void {
    if (options.includes('close')) this.persistent = false;
    else if (options.includes('keep-alive')) this.persistent = true;
  }

  /** How the body ends (RFC 9112 §6.3). */
  settle(): void {
    if (this.status < 200 || this.status === 204 || this.status === 304) {
      this.length = 0;
      return;
    }
    if (this.#coding !== undefined) {
      if (this.#declared !== undefined) throw new MalformedResponse('the response has a length and a transfer coding');
      if (this.#coding.toLowerCase() !== 'chunked') throw new MalformedResponse('the transfer coding is not "chunked"');
      this.length = CHUNKED;
    } else if (this.#declared !== undefined) this.length = Number(this.#declared);
    if (this.length === UNTIL_CLOSE) this.persistent = false;
  }
}

/** Handlers of the headers that are read, by name. */
const TAKERS: ReadonlyMap<string, (head: Fields, value: string) => void> = new Map([
  ['content-length', (head, value) => head.declare(value)],
  ['transfer-encoding', (head, value) => head.encode(value)],
  ['connection', (head, value) => head.connect(value.toLowerCase())],
  [
    'keep-alive',
    (head, value) => {
      head.idleMs = idleFrom(value);
    },
  ],
  [
    'content-type',
    (head, value) => {
      head.contentType ??= value;
    },
  ],
  [
    'content-encoding',
    (head, value) => {
      head.contentEncoding = head.contentEncoding === undefined ? value : `${head.contentEncoding}, ${value}`;
    },
  ],
  [
    'location',
    (head, value) => {
      head.location ??= value;
    },
  ],
]);

function idleFrom(raw: string): number | undefined {
  const seconds = KEEP_ALIVE_TIMEOUT.exec(raw)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** The server violated HTTP/1.1 (RFC 9112). */
export class MalformedResponse extends Error {
  readonly code = 'HTTP_MALFORMED_RESPONSE';
}

/** A body with an unknown content coding, or one that does not match it (RFC 9110 §8.4). */
export class UndecodableBody extends Error {
  readonly code = 'HTTP_UNDECODABLE_BODY';
}
