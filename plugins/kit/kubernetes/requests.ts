import { backOffMs, explainCause, isObject, parsedJson } from '@toolmgr/core';
import { Agent, type Dispatcher } from 'undici';
import { ApiError } from './api.ts';
import type { Connection, TlsSettings } from './connection.ts';

/** One request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** What is done, for messages: `apply ConfigMap team/a`. */
  readonly what: string;
  readonly signal?: AbortSignal;
}

/** Sends requests with the credentials of a connection. */
export interface Requests {
  /** The JSON of the answer. @throws ApiError */
  json(request: ApiRequest): Promise<unknown>;
  /** The body of a watch in chunks. @throws ApiError */
  stream(request: ApiRequest): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

export interface RequestsOptions {
  readonly connection: Connection;
  readonly userAgent?: string;
  /** Longest time of a request with all its tries, in milliseconds. */
  readonly timeoutMs?: number;
  /** A watch without any byte for this long is on a dead connection. The server sends a bookmark about once a minute. */
  readonly silenceMs?: number;
  /** Called once for each answer; `status` 0 without one. `isWatch`: of the start of a watch. */
  readonly observe?: (answer: ObservedAnswer) => void;
}

/** One answer, for metrics. */
export interface ObservedAnswer {
  readonly method: ApiRequest['method'];
  readonly status: number;
  readonly isWatch: boolean;
}

const TIMEOUT_MS = 30_000;
const SILENCE_MS = 150_000;
const CONNECT_MS = 10_000;
const CONNECTIONS = 32;
const KEEP_ALIVE_MS = 30_000;
/** Tries of a request that the server did not process. */
const TRIES = 4;
const BACK_OFF = { firstMs: 100, maxMs: 5_000 };
/** Longest `Retry-After` that a request waits for. */
const RETRY_AFTER_MS = 10_000;
/** Largest answer. An object has at most 1.5 MB, a list asks for fewer objects when it is larger. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Status of an answer that is larger than {@link MAX_BODY_BYTES}. */
export const TOO_LARGE = 'ResponseTooLarge';

/** Requests over HTTP/1.1. Watches have connections of their own, so they never delay a request. */
export function createRequests(options: RequestsOptions): Requests {
  const { connection, timeoutMs = TIMEOUT_MS, silenceMs = SILENCE_MS, observe = () => {} } = options;
  const server = new URL(connection.server);
  const prefix = server.pathname.replace(/\/$/, '');
  const agents = createAgents(silenceMs);
  const once = async (request: ApiRequest, isWatch: boolean, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    for (let refused = false; ; refused = true) {
      const { authorization, headers, tls } = await connection.credentials(refused);
      const answer = await agents.of(tls, isWatch).request({
        origin: server.origin,
        path: prefix + request.path,
        method: request.method,
        headers: {
          accept: request.accept ?? 'application/json',
          'user-agent': options.userAgent ?? 'toolmgr',
          ...headers,
          ...(authorization === undefined ? {} : { authorization }),
          ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
        },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        signal,
      });
      observe({ method: request.method, status: answer.statusCode, isWatch });
      if (answer.statusCode !== 401 || refused) return answer;
      await answer.body.dump();
    }
  };
  const send = async (request: ApiRequest, isWatch: boolean, signal: AbortSignal) => {
    for (let attempt = 1; ; attempt++) {
      let pauseMs = backOffMs(attempt, BACK_OFF);
      try {
        const answer = await once(request, isWatch, signal);
        if (answer.statusCode !== 429 || attempt >= TRIES) return answer;
        pauseMs = Math.max(pauseMs, retryAfterMs(answer));
        await answer.body.dump();
      } catch (cause) {
        if (signal.aborted) throw unreachable(request, timeoutOr(signal, cause));
        observe({ method: request.method, status: 0, isWatch });
        if (attempt >= TRIES || !isRepeatable(request, cause)) throw unreachable(request, cause);
      }
      await pause(pauseMs, signal);
      if (signal.aborted) throw unreachable(request, timeoutOr(signal, undefined));
    }
  };
  return {
    async json(request) {
      const limit = AbortSignal.timeout(timeoutMs);
      const signal = request.signal === undefined ? limit : AbortSignal.any([limit, request.signal]);
      let statusCode: number;
      let answer: unknown;
      try {
        const response = await send(request, false, signal);
        statusCode = response.statusCode;
        answer = parsedJson(await readBody(request, response.body, signal));
      } catch (cause) {
        if (limit.aborted) agents.renewRequests();
        throw cause;
      }
      if (statusCode >= 200 && statusCode < 300 && answer !== undefined) return answer;
      throw errorOf(request, statusCode, answer);
    },
    async stream(request) {
      const { statusCode, body } = await send(request, true, request.signal ?? new AbortController().signal);
      if (statusCode === 200) return body;
      throw errorOf(request, statusCode, parsedJson(await readBody(request, body, request.signal)));
    },
    close: () => agents.close(),
  };
}

/** `reason` of an ApiError with status 404 when the server does not serve the type, e.g. because its CRD is missing. */
export const MISSING_TYPE = 'MissingType';

/** The error of an answer, or of an event of a watch, with a Status object. */
export function errorOf({ what }: Pick<ApiRequest, 'what'>, status: number, answer: unknown): ApiError {
  const { reason, message, details } = isObject(answer) ? answer : {};
  if (status === 404 && !(isObject(details) && details.name !== undefined)) {
    return new ApiError(
      status,
      MISSING_TYPE,
      `cannot ${what}: the server does not serve this type; is its CRD installed?`,
    );
  }
  const said =
    typeof message === 'string' && message !== '' ? message : `the API server answered with status ${status}`;
  return new ApiError(status, typeof reason === 'string' ? reason : '', `cannot ${what}: ${said}`);
}

/** The error of a request without a complete answer. */
export function unreachable({ what }: Pick<ApiRequest, 'what'>, cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError(0, 'Unreachable', `cannot ${what}: ${explainCause(cause)}`, { cause });
}

/** The server has not read the request, or reading it twice changes nothing. */
function isRepeatable({ method }: ApiRequest, cause: unknown): boolean {
  const code = (cause as { code?: unknown }).code;
  if (code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  return method === 'GET' && (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET');
}

function timeoutOr(signal: AbortSignal, cause: unknown): unknown {
  const { reason } = signal;
  return reason instanceof DOMException && reason.name === 'TimeoutError'
    ? new Error('the API server did not answer in time', { cause })
    : reason;
}

function retryAfterMs({ headers }: Dispatcher.ResponseData): number {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0) * 1000, RETRY_AFTER_MS) : 0;
}

async function readBody(request: ApiRequest, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) {
        throw new ApiError(0, TOO_LARGE, `cannot ${request.what}: the answer is larger than ${MAX_BODY_BYTES} bytes`);
      }
      chunks.push(chunk);
    }
  } catch (cause) {
    throw unreachable(request, signal?.aborted ? timeoutOr(signal, cause) : cause);
  }
  return Buffer.concat(chunks);
}

/** Resolves after the time or when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}

/** Agents of the newest TLS settings; older ones close when their requests have ended. */
function createAgents(silenceMs: number) {
  let current: { readonly tls: TlsSettings; requests: Agent; readonly watches: Agent } | undefined;
  const sharedBy = (tls: TlsSettings) => ({
    connect: { ...tls, timeout: CONNECT_MS, keepAlive: true },
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  const requestsWith = (tls: TlsSettings): Agent =>
    new Agent({ ...sharedBy(tls), connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 });
  return {
    of(tls: TlsSettings, isWatch: boolean): Agent {
      if (current?.tls !== tls) {
        void current?.requests.close();
        void current?.watches.close();
        const watches = new Agent({ ...sharedBy(tls), headersTimeout: TIMEOUT_MS, bodyTimeout: silenceMs });
        current = { tls, requests: requestsWith(tls), watches };
      }
      return isWatch ? current.watches : current.requests;
    },
    /** After a request without an answer: the other idle connections may be dead too. */
    renewRequests() {
      if (current === undefined) return;
      void current.requests.close();
      current.requests = requestsWith(current.tls);
    },
    async close() {
      const before = current;
      current = undefined;
      await Promise.all([before?.requests.destroy(), before?.watches.destroy()]);
    },
  };
}
