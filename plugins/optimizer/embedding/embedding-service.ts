import { setTimeout as delay } from 'node:timers/promises';
import { GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import { createRemoteHttp, plainUrl, type RemoteAnswer, remoteUrlProblem } from '../../shared/safe-http/remote-http.ts';
import { readVectorJson, type VectorJson } from './vector-json.ts';

/** Texts in one request, however many more a server would take: an answer stays small enough to be read in one go. */
export const MAX_BATCH = 64;
const MAX_DIMENSIONS = 8_192;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const RETRY_MS = 200;
/** Passing trouble of a server or of what stands before it. */
const PASSING = new Set([429, 502, 503, 504]);

/** An HTTP service that turns texts into vectors: its operator named it, so it may be anywhere. */
export interface EmbeddingService {
  /** The value of a JSON answer; `undefined` for 404. @throws GatewayFault REMOTE_* without header, key or body */
  get(path: string, signal: AbortSignal): Promise<unknown>;
  /** The same for a POST whose answer holds `count` vectors: each list of numbers in it is a `Float32Array`. */
  post(path: string, body: JsonObject, count: number, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Makes a client of the service at a base URL.
 *
 * A request is made a second time after passing trouble: the same texts give the same vectors, so nothing happens twice.
 * Both have `timeoutMs` together.
 */
export function createEmbeddingService(
  base: string,
  { headers, timeoutMs }: { readonly headers: Readonly<Record<string, string>>; readonly timeoutMs: number },
): EmbeddingService {
  const http = createRemoteHttp({
    allowHttp: true,
    allowPrivateAddresses: true,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
  });
  const root = base.replace(/\/+$/, '');
  const exchange = async (path: string, asked: Asked | undefined, given: AbortSignal): Promise<unknown> => {
    const url = `${root}${path}`;
    const signal = AbortSignal.any([given, AbortSignal.timeout(timeoutMs)]);
    const type = asked && { 'content-type': 'application/json' };
    const send = async (): Promise<Answer> => {
      const vectors = asked && readVectorJson({ vectors: asked.count, numbers: MAX_DIMENSIONS });
      const answer = await http.send(url, {
        method: asked === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', ...headers, ...type },
        ...(asked && { body: JSON.stringify(asked.body) }),
        ...(vectors && { take: vectors.push }),
        signal,
      });
      return { ...answer, vectors };
    };
    const first = await send().catch((fault: unknown) => fault);
    if (isAnswer(first) && !PASSING.has(first.status)) return jsonOf(first, url);
    if (!isAnswer(first) && !isPassing(first)) throw first;
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw isAnswer(first) ? statusFault(first, url) : first;
    return jsonOf(await send(), url);
  };
  return {
    get: (path, signal) => exchange(path, undefined, signal),
    post: (path, body, count, signal) => exchange(path, { body, count }, signal),
    close: () => http.close(),
  };
}

/** What is wrong with a base URL, in a few words; `undefined` when nothing is. */
export function serviceUrlProblem(url: string): string | undefined {
  const problem = remoteUrlProblem(url, { allowHttp: true, allowPrivateAddresses: true });
  if (problem !== undefined) return problem;
  return /[?#]/.test(url) ? 'expected a base URL without query and fragment' : undefined;
}

/**
 * The rows of an answer as unit vectors.
 *
 * Shape: `rows` must be `count` lists of finite numbers, all of one length and none of them zero throughout. Those that are
 * `Float32Array` are changed in place, since there are thousands.
 * @throws GatewayFault REMOTE_UNAVAILABLE saying what they are instead
 */
export function unitVectors(rows: unknown, count: number, where: string): Float32Array[] {
  const fail = (what: string) => new GatewayFault('REMOTE_UNAVAILABLE', `${where}: ${what}`);
  if (!Array.isArray(rows) || rows.length !== count) throw fail(`expected ${count} vectors`);
  const [first] = rows as unknown[];
  const dimensions = isList(first) ? first.length : 0;
  if (dimensions === 0 || dimensions > MAX_DIMENSIONS) throw fail(`expected vectors of 1 to ${MAX_DIMENSIONS} numbers`);
  return (rows as unknown[]).map((row) => {
    if (!isList(row) || row.length !== dimensions) throw fail('answered vectors of different lengths');
    const vector = row instanceof Float32Array ? row : Float32Array.from(row as number[]);
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    if (!Number.isFinite(length) || length === 0) throw fail('answered a vector that has no direction');
    for (let at = 0; at < dimensions; at += 1) vector[at] = (vector[at] as number) / length;
    return vector;
  });
}

function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || value instanceof Float32Array;
}

/** Sends texts in batches, one after the other, and joins what comes back. @throws what `send` throws; REMOTE_UNAVAILABLE */
export async function inBatches(
  texts: readonly string[],
  size: number,
  send: (batch: readonly string[]) => Promise<readonly Float32Array[]>,
): Promise<readonly Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let start = 0; start < texts.length; start += size) {
    vectors.push(...(await send(texts.slice(start, start + size))));
    if (vectors[0]?.length !== vectors.at(-1)?.length) {
      throw new GatewayFault('REMOTE_UNAVAILABLE', 'the embedding model has changed between two batches');
    }
  }
  return vectors;
}

interface Asked {
  readonly body: JsonObject;
  readonly count: number;
}

interface Answer extends RemoteAnswer {
  readonly vectors: VectorJson | undefined;
}

function isAnswer(value: unknown): value is Answer {
  return isObject(value) && 'status' in value && !(value instanceof Error);
}

function isPassing(fault: unknown): boolean {
  return fault instanceof GatewayFault && fault.code === 'REMOTE_UNAVAILABLE';
}

function jsonOf(answer: Answer, url: string): unknown {
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw statusFault(answer, url);
  try {
    return answer.vectors === undefined ? JSON.parse(answer.body.toString('utf8')) : answer.vectors.end();
  } catch (cause) {
    throw new GatewayFault('REMOTE_UNAVAILABLE', `${plainUrl(url)}: ${problemOf(cause)}`);
  }
}

/** Of what is not JSON no more is told: the parser's words quote the text. */
function problemOf(cause: unknown): string {
  const isTold = cause instanceof RangeError || cause instanceof TypeError;
  return isTold ? cause.message : 'answered something that is not JSON';
}

/** Without the body: services quote keys and texts there. */
function statusFault({ status }: RemoteAnswer, url: string): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `${plainUrl(url)}: answered with status ${status}, expected 200`);
}
