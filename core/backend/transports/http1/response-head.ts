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
    if (!TOKEN.test(name)) throw new MalformedResponse('a header of the answer has a name that is none');
    head.take(name.toLowerCase(), text.slice(colon + 1, end));
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

  take(name: string, raw: string): void {
    switch (name) {
      case 'content-length':
        return this.#declare(raw.trim());
      case 'transfer-encoding':
        this.#coding = this.#coding === undefined ? raw.trim() : `${this.#coding}, ${raw.trim()}`;
        return;
      case 'connection':
        return this.#connect(raw.toLowerCase());
      case 'keep-alive':
        this.idleMs = idleFrom(raw);
        return;
      case 'content-type':
        this.contentType ??= raw.trim();
        return;
      case 'location':
        this.location ??= raw.trim();
        return;
      case 'mcp-session-id':
        this.sessionId ??= raw.trim();
    }
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

  #declare(value: string): void {
    if (!DIGITS.test(value)) throw new MalformedResponse('the length of the answer is not a number');
    if (this.#declared !== undefined && this.#declared !== value) {
      throw new MalformedResponse('the answer has two lengths');
    }
    this.#declared = value;
  }

  #connect(options: string): void {
    if (options.includes('close')) this.persistent = false;
    else if (options.includes('keep-alive')) this.persistent = true;
  }
}

function idleFrom(raw: string): number | undefined {
  const seconds = KEEP_ALIVE_TIMEOUT.exec(raw)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
