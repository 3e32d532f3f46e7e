import type { IncomingMessage } from 'node:http';
import { Gathering } from '../../json/pieces.ts';
import { type Bounded, Deadlines } from '../../timing/shared-timers.ts';
import { LATE, within } from '../../timing/within.ts';

/** Why there is no body: too long, too slow, the client went away, or the host has read it and did not hand it over. */
export type BodyFault = 'tooLarge' | 'tooSlow' | 'gone' | 'consumed';

/** Reads the body of one request, once. */
export type BodyReader = () => Promise<Buffer | BodyFault>;

/** Bounds of one body: bytes, and milliseconds until its end. */
export interface BodyLimits {
  readonly bodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/**
 * Collects the body of a Node request.
 *
 * A body over the limit is read on and thrown away up to a bound, so that the client gets to read the refusal; one that
 * announces more than that is refused at once.
 */
export function readNodeBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer | BodyFault> {
  if (request.readableDidRead) return Promise.resolve('consumed'); // nothing would come any more
  const declared = Number(request.headers['content-length']);
  if (declared > limits.bodyBytes * DRAIN_FACTOR) return Promise.resolve('tooLarge');
  return new Promise((resolve) => {
    const body = new Arriving(limits, resolve, request);
    // None is taken off again: once the body has settled they do nothing, and an error after that must be heard by somebody.
    request.on('data', (chunk: Buffer) => body.took(chunk));
    request.on('end', () => body.ended());
    const gone = (): void => body.settle('gone');
    request.on('close', gone);
    request.on('error', gone);
  });
}

/** A body that the host has read: bytes, text, or the JSON value, which is written again. */
export async function givenBody(body: unknown, { bodyBytes }: BodyLimits): Promise<Buffer | BodyFault> {
  const bytes = bytesFrom(body);
  if (bytes === undefined) return 'consumed';
  return bytes.length > bodyBytes ? 'tooLarge' : bytes;
}

function bytesFrom(body: unknown): Buffer | undefined {
  if (Buffer.isBuffer(body)) return body;
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return text === undefined ? undefined : Buffer.from(text);
}

/** A body on its way; also its own deadline. */
class Arriving implements Bounded {
  readonly dueMs: number;
  readonly #most: number;
  readonly #resolve: (end: Buffer | BodyFault) => void;
  readonly #request: IncomingMessage;
  #pieces = 0;
  #arrived: Gathering | undefined = new Gathering();
  #bytes = 0;
  #isSettled = false;

  constructor(
    { bodyBytes, bodyTimeoutMs }: BodyLimits,
    resolve: (end: Buffer | BodyFault) => void,
    request: IncomingMessage,
  ) {
    this.dueMs = performance.now() + bodyTimeoutMs;
    this.#most = bodyBytes;
    this.#resolve = resolve;
    this.#request = request;
    bodies.add(this);
  }

  took(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (++this.#pieces % PIECES_PER_REST === 0) rest(this.#request);
    if (this.#isSettled) return;
    if (this.#bytes > this.#most * DRAIN_FACTOR) this.settle('tooLarge');
    else if (this.#bytes > this.#most) this.#arrived = undefined;
    else this.#arrived?.add(chunk);
  }

  ended(): void {
    this.settle(this.#arrived?.whole() ?? 'tooLarge');
  }

  expire(): void {
    this.settle('tooSlow');
  }

  settle(end: Buffer | BodyFault): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#arrived = undefined;
    bodies.delete(this);
    this.#resolve(end);
  }
}

/**
 * Lets others have their turn: a body in pieces of a few bytes costs a microsecond for each, and one read may bring ten
 * thousand of them. However many such bodies there are, one of them is read on in each turn of the event loop.
 */
function rest(request: IncomingMessage): void {
  if (resting.has(request)) return;
  request._read = ignore; // Node asks for more after each piece, and would wake the socket with it
  request.socket.pause();
  resting.add(request);
  if (resting.size === 1) setImmediate(wakeOne);
}

function wakeOne(): void {
  for (const request of resting) {
    resting.delete(request);
    Reflect.deleteProperty(request, '_read');
    request.socket.resume();
    break;
  }
  if (resting.size > 0) setImmediate(wakeOne);
}

const resting = new Set<IncomingMessage>();
const PIECES_PER_REST = 1_024; // a body of 8 MiB in reads of usual size has some hundred

/** Collects the body of a web-standard request within the same bounds. */
export async function readWebBody(request: Request, limits: BodyLimits): Promise<Buffer | BodyFault> {
  if (request.bodyUsed) return 'consumed';
  if (request.body === null) return Buffer.alloc(0);
  if (Number(request.headers.get('content-length')) > limits.bodyBytes) return 'tooLarge';
  const reader = request.body.getReader();
  try {
    const body = await within(limits.bodyTimeoutMs, undefined, readWhole(reader, limits.bodyBytes));
    if (body !== LATE && body !== 'tooLarge') return body;
    reader.cancel().catch(ignore);
    return body === LATE ? 'tooSlow' : body;
  } catch {
    return 'gone'; // the stream of the body failed: its sender is not there any more
  }
}

async function readWhole(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | 'tooLarge'> {
  const arrived = new Gathering();
  for (;;) {
    const step = await reader.read();
    if (step.done) return arrived.whole();
    if (arrived.bytes + step.value.length > maxBytes) return 'tooLarge';
    arrived.add(step.value);
  }
}

/** The clock of all bodies that are still arriving. */
const bodies = new Deadlines();

const DRAIN_FACTOR = 4; // of `bodyBytes`; beyond it the connection is not worth keeping
const ignore = (): void => {};
