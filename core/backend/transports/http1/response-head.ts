import { MalformedResponse } from './malformed.ts';

/** The answer's status and those of its headers that somebody here reads. */
export interface ResponseHead {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly location: string | undefined;
  /** `Mcp-Session-Id`. */
  readonly sessionId: string | undefined;
  /** Bytes of the body; {@link CHUNKED} and {@link UNTIL_CLOSE} are others. */
  readonly length: number;
  /** Whether the connection may be used again. */
  readonly persistent: boolean;
  /** Milliseconds after which the far side closes an idle connection; `undefined` when it does not say. */
  readonly idleMs: number | undefined;
}

/** Bytes of a body whose chunks tell its end. */
export const CHUNKED = -1;
/** Bytes of a body that ends with its connection. */
export const UNTIL_CLOSE = -2;

/**
 * Reads the head of an answer (RFC 9112 §4, §5, §6.3), strictly: what two readers could take for different messages
 * is refused.
 * @param text Latin-1, without the empty line
 * @throws MalformedResponse
 */
export function readResponseHead(text: string): ResponseHead {
  if (!STATUS_LINE.test(text)) throw new MalformedResponse('the answer does not begin with a status line');
  if (STRAY_BREAK.test(text)) throw new MalformedResponse('a header of the answer has a stray line break or NUL');
  const head = new Fields(Number(text.slice(9, 12)), text.charCodeAt(7) === ONE);
  let at = text.indexOf('\r\n');
  while (at !== -1) {
    const start = at + 2;
    at = text.indexOf('\r\n', start);
    const end = at === -1 ? text.length : at;
    const colon = text.indexOf(':', start);
    if (colon === -1 || colon >= end) throw new MalformedResponse('a header of the answer has no colon');
    const name = text.slice(start, colon);
    const take = TAKERS.get(name) ?? TAKERS.get(name.toLowerCase());
    if (take !== undefined) take(head, text.slice(colon + 1, end));
    else if (!TOKEN.test(name)) throw new MalformedResponse('a header of the answer has a name that is none');
  }
  head.settle();
  return head;
}

const STATUS_LINE = /^HTTP\/1\.[01] [1-5]\d\d(?: |\r\n|$)/;
const STRAY_BREAK = /[^\r]\n|\r(?!\n)|\0/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const DIGITS = /^\d{1,15}$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})/i;
const ONE = 0x31;

class Fields implements ResponseHead {
  readonly status: number;
  contentType: string | undefined;
  location: string | undefined;
  sessionId: string | undefined;
  length = UNTIL_CLOSE;
  persistent: boolean;
  idleMs: number | undefined;
  #coding: string | undefined;
  #declared: string | undefined;

  constructor(status: number, persistent: boolean) {
    this.status = status;
    this.persistent = persistent;
  }

  /** `Content-Length` */
  declare(value: string): void {
    if (!DIGITS.test(value)) throw new MalformedResponse('the length of the answer is not a number');
    if (this.#declared !== undefined && this.#declared !== value) {
      throw new MalformedResponse('the answer has two lengths');
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

  /** Where the body ends (RFC 9112 §6.3). */
  settle(): void {
    if (this.status < 200 || this.status === 204 || this.status === 304) {
      this.length = 0;
      return;
    }
    if (this.#coding !== undefined) {
      if (this.#declared !== undefined) throw new MalformedResponse('the answer has a length and a transfer coding');
      if (this.#coding.toLowerCase() !== 'chunked') throw new MalformedResponse('the transfer coding is not "chunked"');
      this.length = CHUNKED;
    } else if (this.#declared !== undefined) this.length = Number(this.#declared);
    if (this.length === UNTIL_CLOSE) this.persistent = false;
  }
}

/** What is read of a head: by name, in lower case and as most servers write it, so that no text is made to look one up. */
const TAKERS: ReadonlyMap<string, (head: Fields, raw: string) => void> = new Map(
  Object.entries({
    'Content-Length': (head: Fields, raw: string) => head.declare(raw.trim()),
    'Transfer-Encoding': (head: Fields, raw: string) => head.encode(raw.trim()),
    Connection: (head: Fields, raw: string) => head.connect(raw.toLowerCase()),
    'Keep-Alive': (head: Fields, raw: string) => {
      head.idleMs = idleFrom(raw);
    },
    'Content-Type': (head: Fields, raw: string) => {
      head.contentType ??= raw.trim();
    },
    Location: (head: Fields, raw: string) => {
      head.location ??= raw.trim();
    },
    'Mcp-Session-Id': (head: Fields, raw: string) => {
      head.sessionId ??= raw.trim();
    },
  }).flatMap(([name, take]) => [
    [name, take],
    [name.toLowerCase(), take],
  ]),
);

function idleFrom(raw: string): number | undefined {
  const seconds = KEEP_ALIVE_TIMEOUT.exec(raw)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
