import { setTimeout as delay } from 'node:timers/promises';
import { GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import { createRemoteHttp, plainUrl, type RemoteAnswer, remoteUrlProblem } from '../safe-http/remote-http.ts';
import { readVectorJson, type VectorJson } from './vector-json.ts';

/** Maximum texts in one request, also when a server accepts more: larger responses would block the event loop. */
export const MAX_BATCH = 64;
const MAX_DIMENSIONS = 8_192;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const RETRY_MS = 200;
/** Temporary errors of a server or a proxy. */
const RETRYABLE_STATUS = new Set([429, 502, 503, 504]);

/** An HTTP service that turns texts into vectors. The operator configures it, so private addresses are allowed. */
export interface EmbeddingService {
  /** The value of a JSON answer; `undefined` for 404. @throws GatewayFault REMOTE_* without header, key or body */
  get(path: string, signal: AbortSignal): Promise<unknown>;
  /** Like `get`, for a POST whose response has `count` vectors: each list of numbers is a `Float32Array`. */
  post(path: string, body: JsonObject, count: number, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Creates a client of the service at a base URL.
 *
 * A request is retried once after a temporary error; embedding has no side effects. Both attempts together have `timeoutMs`.
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
  const exchange = async (path: string, post: PostRequest | undefined, given: AbortSignal): Promise<unknown> => {
    const url = `${root}${path}`;
    const signal = AbortSignal.any([given, AbortSignal.timeout(timeoutMs)]);
    const type = post && { 'content-type': 'application/json' };
    const send = async (): Promise<Answer> => {
      const vectors = post && readVectorJson({ vectors: post.count, numbers: MAX_DIMENSIONS });
      const answer = await http.send(url, {
        method: post === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', ...headers, ...type },
        ...(post && { body: JSON.stringify(post.body) }),
        ...(vectors && { take: vectors.push }),
        signal,
      });
      return { ...answer, vectors };
    };
    const first = await send().catch((fault: unknown) => fault);
    if (isAnswer(first) && !RETRYABLE_STATUS.has(first.status)) return jsonOf(first, url);
    if (!isAnswer(first) && !isRetryable(first)) throw first;
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

/** Why a base URL is invalid; `undefined` when it is valid. */
export function serviceUrlProblem(url: string): string | undefined {
  const problem = remoteUrlProblem(url, { allowHttp: true, allowPrivateAddresses: true });
  if (problem !== undefined) return problem;
  return /[?#]/.test(url) ? 'expected a base URL without query and fragment' : undefined;
}

/**
 * Converts the rows of a response to unit vectors.
 *
 * Shape: `rows` must be `count` lists of finite numbers, all of one length, and not all zeros. A `Float32Array` is
 * changed in place.
 * @throws GatewayFault REMOTE_UNAVAILABLE for other rows
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
    if (!Number.isFinite(length) || length === 0) throw fail('answered a vector of length zero');
    for (let at = 0; at < dimensions; at += 1) vector[at] = (vector[at] as number) / length;
    return vector;
  });
}

function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || value instanceof Float32Array;
}

/** Sends texts in batches, one after the other, and joins the vectors. @throws what `send` throws; REMOTE_UNAVAILABLE */
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

interface PostRequest {
  readonly body: JsonObject;
  readonly count: number;
}

interface Answer extends RemoteAnswer {
  readonly vectors: VectorJson | undefined;
}

function isAnswer(value: unknown): value is Answer {
  return isObject(value) && 'status' in value && !(value instanceof Error);
}

function isRetryable(fault: unknown): boolean {
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

/** The message of a JSON parser is not used: it quotes the text. */
function problemOf(cause: unknown): string {
  const isTold = cause instanceof RangeError || cause instanceof TypeError;
  return isTold ? cause.message : 'answered something that is not JSON';
}

/** Without the body: it may contain keys and texts. */
function statusFault({ status }: RemoteAnswer, url: string): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `${plainUrl(url)}: answered with status ${status}, expected 200`);
}
