import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { RequestControl, ResponseHead, ResponseReader } from './http-client.ts';
import { UndecodableBody } from './response-head.ts';

/** Maximum bytes per decoder output; readers check their limits between two of them. */
const PIECE_BYTES = 65_536;

/** Content codings that are decoded (RFC 9110 §8.4.1), by name. `deflate` is sent with and without its zlib header. */
const DECODERS: ReadonlyMap<string, (first: number) => Transform> = new Map<string, (first: number) => Transform>([
  ['gzip', () => createGunzip({ chunkSize: PIECE_BYTES })],
  ['x-gzip', () => createGunzip({ chunkSize: PIECE_BYTES })],
  ['br', () => createBrotliDecompress({ chunkSize: PIECE_BYTES })],
  [
    'deflate',
    (first) =>
      isZlib(first) ? createInflate({ chunkSize: PIECE_BYTES }) : createInflateRaw({ chunkSize: PIECE_BYTES }),
  ],
]);

/** Decoded bytes of a body that is not a message; its reader needs only the start. */
const MAX_OTHER_BYTES = 65_536;
/** Decoded bytes of one JSON body, independent of `limits.resultBytes`. */
const MAX_JSON_BYTES = 268_435_456;

/** Maximum number of codings of one body. */
const MAX_CODINGS = 2;

function isZlib(first: number): boolean {
  return (first & 0x0f) === 8; // the method of a zlib header; raw deflate of text never starts like this
}

/**
 * A reader that decodes the content codings of a body for another reader; the same reader when there are none.
 * The output is limited twice: here by the kind of body, and by the reader, which aborts at its own limit.
 * @throws UndecodableBody for an unknown coding, or too many codings
 */
export function decodingReader(head: ResponseHead, reader: ResponseReader): ResponseReader {
  if (head.contentEncoding === undefined) return reader;
  const codings = head.contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_CODINGS) throw new UndecodableBody('the body has too many content codings');
  return codings.reduce((inner, coding) => {
    const decoder = DECODERS.get(coding);
    if (decoder === undefined) throw new UndecodableBody('the content coding is not gzip, br or deflate');
    return new DecodedBody(inner, decoder);
  }, reader);
}

/** Events are limited one by one, and their stream has no end. */
function mostBytes({ status, contentType = '' }: ResponseHead): number {
  if (status < 200 || status > 299) return MAX_OTHER_BYTES;
  if (/^text\/event-stream\b/i.test(contentType)) return Number.POSITIVE_INFINITY;
  return /^application\/json\b/i.test(contentType) ? MAX_JSON_BYTES : MAX_OTHER_BYTES;
}

/** Decodes one coding. Also controls the request for its reader: paused data is not decoded. */
class DecodedBody implements ResponseReader, RequestControl {
  readonly #reader: ResponseReader;
  readonly #make: (first: number) => Transform;
  #decoder: Transform | undefined;
  #flow: RequestControl | undefined;
  #over = false;
  /** The encoded body is complete: the connection may carry another request. */
  #whole = false;
  /** Bytes that may still be emitted; decoding stops at this limit. */
  #left = MAX_OTHER_BYTES;
  #most = MAX_OTHER_BYTES;

  constructor(reader: ResponseReader, make: (first: number) => Transform) {
    this.#reader = reader;
    this.#make = make;
  }

  answered(flow: RequestControl, head: ResponseHead): void {
    this.#flow = flow;
    this.#most = mostBytes(head);
    this.#left = this.#most;
    this.#reader.answered(this, head);
  }

  received(flow: RequestControl, bytes: Buffer): void {
    if (this.#over || this.#left <= 0 || bytes.length === 0) return;
    this.#decoder ??= this.#begin(this.#make(bytes[0] as number));
    if (!this.#decoder.write(bytes)) flow.pause();
  }

  ended(): void {
    this.#whole = true;
    if (this.#over) return;
    if (this.#decoder === undefined || this.#left <= 0) this.#end();
    else this.#decoder.end();
  }

  failed(error: Error, isSent: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.#decoder?.destroy();
    this.#reader.failed(error, isSent);
  }

  abort(reason: Error): void {
    if (this.#over) return;
    if (this.#whole) this.failed(reason, true);
    else this.#flow?.abort(reason);
  }

  pause(): void {
    this.#decoder?.pause();
  }

  resume(): void {
    this.#decoder?.resume();
  }

  #begin(decoder: Transform): Transform {
    decoder.on('data', (bytes: Buffer) => this.#give(bytes));
    decoder.on('drain', () => this.#flow?.resume());
    decoder.once('end', () => this.#end());
    decoder.once('error', (cause) =>
      this.abort(new UndecodableBody(`the body does not match its content coding: ${cause.message}`)),
    );
    return decoder;
  }

  #give(bytes: Buffer): void {
    if (this.#over || this.#left <= 0) return;
    this.#left -= bytes.length;
    try {
      this.#reader.received(this, bytes);
    } catch (cause) {
      // rethrowing would end the process, since Node calls this from its event loop
      return this.abort(cause instanceof Error ? cause : new Error(String(cause)));
    }
    if (this.#left > 0 || this.#over) return;
    if (this.#most === MAX_JSON_BYTES) return this.abort(new UndecodableBody('the body decodes to too many bytes'));
    this.#decoder?.destroy();
    this.#flow?.resume();
    if (this.#whole) this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#reader.ended();
  }
}
