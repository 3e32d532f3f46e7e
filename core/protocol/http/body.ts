import type { IncomingMessage } from 'node:http';
import { Deadlines } from '../deadlines.ts';

/** Why there is no body: too long, too slow, or the client went away. */
export type BodyFault = 'tooLarge' | 'tooSlow' | 'gone';

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
  const declared = Number(request.headers['content-length']);
  if (declared > limits.bodyBytes * DRAIN_FACTOR) return Promise.resolve('tooLarge');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const slow = { dueMs: performance.now() + limits.bodyTimeoutMs, expire: () => settle('tooSlow') };
    bodies.add(slow);
    const settle = (end: Buffer | BodyFault): void => {
      bodies.delete(slow);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      request.on('error', ignore);
      resolve(end);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= limits.bodyBytes) chunks.push(chunk);
      else if (bytes > limits.bodyBytes * DRAIN_FACTOR) settle('tooLarge');
      else chunks.length = 0;
    };
    const onEnd = (): void => {
      if (bytes > limits.bodyBytes) return settle('tooLarge');
      settle(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, bytes));
    };
    const onClose = (): void => settle('gone');
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Collects the body of a web-standard request within the same bounds. */
export async function readWebBody(request: Request, limits: BodyLimits): Promise<Buffer | BodyFault> {
  if (request.body === null) return Buffer.alloc(0);
  if (Number(request.headers.get('content-length')) > limits.bodyBytes) return 'tooLarge';
  const reader = request.body.getReader();
  const late = deadline(limits.bodyTimeoutMs);
  try {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      const step = await Promise.race([reader.read(), late.passed]);
      if (step === 'tooSlow') return abandon(reader, step);
      if (step.done) return Buffer.concat(chunks, bytes);
      bytes += step.value.length;
      if (bytes > limits.bodyBytes) return abandon(reader, 'tooLarge');
      chunks.push(step.value);
    }
  } catch {
    return 'gone'; // the stream of the body failed: its sender is not there any more
  } finally {
    late.clear();
  }
}

/** The clock of all bodies that are still arriving. */
const bodies = new Deadlines();

const DRAIN_FACTOR = 4; // of `bodyBytes`; beyond it the connection is not worth keeping
const ignore = (): void => {};

function deadline(ms: number): { readonly passed: Promise<'tooSlow'>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<'tooSlow'>((resolve) => {
    timer = setTimeout(() => resolve('tooSlow'), ms);
    timer.unref();
  });
  return { passed, clear: () => clearTimeout(timer) };
}

function abandon(reader: ReadableStreamDefaultReader<Uint8Array>, fault: BodyFault): BodyFault {
  reader.cancel().catch(ignore);
  return fault;
}
