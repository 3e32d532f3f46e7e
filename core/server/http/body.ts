import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../json/byte-pieces.ts';
import type { HeldBytes } from '../../mcp/byte-budget.ts';
import { Deadlines, type WithDeadline } from '../../timing/shared-timers.ts';
import { LATE, within } from '../../timing/within.ts';

/**
 * Why there is no body: too long, too slow, no space in the memory budget, the client disconnected, or the host has read it
 * and did not pass it on.
 */
export type BodyFault = 'tooLarge' | 'tooSlow' | 'memorySpent' | 'gone' | 'consumed';

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
 * The rest of a body over the limit is read and discarded up to a maximum, so that the client can read the error
 * response; a body with a larger Content-Length is refused at once.
 */
export function readNodeBody(
  request: IncomingMessage,
  limits: BodyLimits,
  held?: HeldBytes,
): Promise<Buffer | BodyFault> {
  if (request.readableDidRead) return Promise.resolve('consumed'); // no data would follow
  const declared = Number(request.headers['content-length']);
  if (declared > limits.bodyBytes * DRAIN_FACTOR) return Promise.resolve('tooLarge');
  if (held !== undefined && declared <= limits.bodyBytes && !held.budget.hasSpace(held, declared)) {
    return Promise.resolve(refused(held)); // reading it would take time from others
  }
  return new Promise((resolve) => {
    const body = new IncomingBody(limits, resolve, request, held);
    // The listeners stay: once the body has settled they do nothing, and a later error still needs a listener.
    request.on('data', (chunk: Buffer) => body.took(chunk));
    request.on('end', () => body.ended());
    const gone = (): void => body.settle('gone');
    request.on('close', gone);
    request.on('error', gone);
  });
}

/** A body that the host has read: bytes, text, or the JSON value, which is encoded again. */
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

/** A body that is being received; also its own deadline. */
class IncomingBody implements WithDeadline {
  readonly dueMs: number;
  readonly #most: number;
  readonly #resolve: (end: Buffer | BodyFault) => void;
  readonly #request: IncomingMessage;
  readonly #held: HeldBytes | undefined;
  #pieces = 0;
  #arrived: ByteCollector | undefined = new ByteCollector();
  #bytes = 0;
  #isSettled = false;

  constructor(
    { bodyBytes, bodyTimeoutMs }: BodyLimits,
    resolve: (end: Buffer | BodyFault) => void,
    request: IncomingMessage,
    held: HeldBytes | undefined,
  ) {
    this.dueMs = performance.now() + bodyTimeoutMs;
    this.#most = bodyBytes;
    this.#resolve = resolve;
    this.#request = request;
    this.#held = held;
    bodies.add(this);
  }

  took(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (++this.#pieces % PIECES_PER_PAUSE === 0) pauseRequest(this.#request);
    if (this.#isSettled) return;
    if (this.#bytes > this.#most * DRAIN_FACTOR) this.settle('tooLarge');
    else if (this.#bytes > this.#most) this.#arrived = undefined;
    else if (this.#held?.take(chunk.length) === false) this.settle(refused(this.#held));
    else this.#arrived?.add(chunk);
  }

  ended(): void {
    const whole = this.#arrived?.whole();
    if (whole !== undefined) this.#held?.add(whole.length * COPIES);
    this.settle(whole ?? 'tooLarge');
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
 * Pauses a request, so that others are served: a body in pieces of a few bytes costs a microsecond for each piece, and
 * one read may contain ten thousand of them. Of all paused bodies one is resumed in each turn of the event loop.
 */
function pauseRequest(request: IncomingMessage): void {
  if (paused.has(request)) return;
  request._read = ignore; // Node reads on after each piece, which would resume the socket
  request.socket.pause();
  paused.add(request);
  if (paused.size === 1) setImmediate(resumeOne);
}

function resumeOne(): void {
  for (const request of paused) {
    paused.delete(request);
    Reflect.deleteProperty(request, '_read');
    request.socket.resume();
    break;
  }
  if (paused.size > 0) setImmediate(resumeOne);
}

const paused = new Set<IncomingMessage>();
const PIECES_PER_PAUSE = 1_024; // a body of 8 MiB in reads of usual size has about a hundred

/**
 * Collects the body of a web-standard request within the same limits; `onGone` is called when it breaks off.
 *
 * The rest of a body over the limit is read and discarded up to a maximum, as {@link readNodeBody} does.
 */
export async function readWebBody(
  request: Request,
  limits: BodyLimits,
  onGone: () => void,
  held?: HeldBytes,
): Promise<Buffer | BodyFault> {
  const { signal } = request;
  if (signal.aborted) return 'gone';
  if (request.bodyUsed || request.body?.locked) return 'consumed';
  if (request.body === null) return Buffer.alloc(0);
  if (Number(request.headers.get('content-length')) > limits.bodyBytes * DRAIN_FACTOR) return 'tooLarge';
  const reader = request.body.getReader();
  const aborted = (): void => void reader.cancel(signal.reason).catch(ignore);
  signal.addEventListener('abort', aborted, { once: true });
  try {
    const body = await within(limits.bodyTimeoutMs, undefined, readWhole(reader, limits.bodyBytes, held));
    if (signal.aborted) return 'gone';
    if (Buffer.isBuffer(body)) held?.add(body.length * COPIES);
    if (body !== LATE) return body;
    reader.cancel().catch(ignore);
    return 'tooSlow';
  } catch {
    onGone(); // the stream of the body failed: the client disconnected
    return 'gone';
  } finally {
    signal.removeEventListener('abort', aborted);
  }
}

async function readWhole(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
  held: HeldBytes | undefined,
): Promise<Buffer | BodyFault> {
  let arrived: ByteCollector | undefined = new ByteCollector();
  let bytes = 0;
  for (;;) {
    const step = await reader.read();
    if (step.done) return arrived?.whole() ?? 'tooLarge';
    bytes += step.value.length;
    if (bytes > maxBytes * DRAIN_FACTOR) return 'tooLarge';
    if (bytes > maxBytes) arrived = undefined;
    else if (held?.take(step.value.length) === false) return refused(held);
    else arrived?.add(step.value);
  }
}

function refused(held: HeldBytes): BodyFault {
  held.budget.refused();
  return 'memorySpent';
}

const COPIES = 2; // of a whole body: its decoded values, and the request to the backend

/** Deadlines of all bodies that are being received. */
const bodies = new Deadlines();

const DRAIN_FACTOR = 4; // of `bodyBytes`; a larger body closes the connection
const ignore = (): void => {};
