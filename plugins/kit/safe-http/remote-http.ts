import { explainCause, GatewayFault, isObject, type JsonObject, parsedJson, proxyRouteFor } from '@toolmgr/core';
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici';
import { type ConnectRules, ForbiddenAddress, guardedConnector, tlsOptions } from './guarded-connector.ts';
import { plainUrl, remoteUrlProblem, type UrlRules } from './remote-url.ts';

export { plainUrl, remoteUrlProblem } from './remote-url.ts';

/** Rules for a client of configured URLs. Default: only https to public addresses. */
export interface RemoteRules extends ConnectRules, UrlRules {
  /** Follows redirects within the origin. Default: no redirect is followed. */
  readonly followsWithinOrigin?: boolean;
  /** Timeout from the request to the last byte of the response, in milliseconds. */
  readonly timeoutMs?: number;
  /** Maximum bytes of a response body. */
  readonly maxBytes?: number;
  /** Maximum connections to one origin; further requests wait within their time. */
  readonly connections?: number;
}

/** One request. `signal` ends it early. */
export interface RemoteRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  /** Receives the body of a response with status 200 in chunks; `body` is empty then. Must not throw. */
  readonly take?: (piece: Uint8Array) => void;
  /** Returns a redirect with its `location` instead of refusing it. The caller sends the next request, or none. */
  readonly takesRedirect?: boolean;
  /** Reads only status and headers; `body` is empty. */
  readonly headOnly?: boolean;
  /** Instead of the limits of the rules. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** A complete response with any status, a redirect only when the request takes one; header names in lower case. */
export interface RemoteAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A bounded HTTP client for configured URLs and URLs in their documents. */
export interface RemoteHttp {
  /**
   * Sends one request and reads the complete response. Redirects are refused, unless the request or the rules say otherwise.
   * @throws GatewayFault REMOTE_REFUSED when the rules forbid the address; REMOTE_UNAVAILABLE without a complete response
   * within the limits. Neither contains a query, a header or a body.
   */
  send(url: string, wanted?: RemoteRequest): Promise<RemoteAnswer>;
  /**
   * Sends a GET and returns the JSON object of the response.
   * @throws GatewayFault as `send`; REMOTE_UNAVAILABLE when the status is not 200 or the body is no JSON object
   */
  getJson(url: string, signal?: AbortSignal): Promise<JsonObject>;
  /** The JSON object of a response with status 200. @throws GatewayFault REMOTE_UNAVAILABLE, without the body */
  json(answer: RemoteAnswer, url: string): JsonObject;
  /** Closes the connections; pending requests fail. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;
const CONNECTIONS_PER_ORIGIN = 8;
const MAX_ORIGINS = 64;
const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 10_000;
const MAX_REDIRECTS = 3;

/** Creates a client, which connects on the first request. */
export function createRemoteHttp(rules: RemoteRules = {}): RemoteHttp {
  const agent = new Agent({
    connect: guardedConnector(rules, rules.timeoutMs ?? TIMEOUT_MS),
    connections: rules.connections ?? CONNECTIONS_PER_ORIGIN,
    maxOrigins: MAX_ORIGINS,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  const proxies = new Map<string, ProxyAgent>();
  const dispatcherFor = (url: string): Dispatcher => {
    const route = proxyOn(url);
    if (route === undefined) return agent;
    const proxy = proxies.get(route.label) ?? proxyAgent(route, rules);
    proxies.set(route.label, proxy);
    return proxy;
  };
  const send: RemoteHttp['send'] = async (url, wanted = {}) => {
    let place = url;
    for (let redirects = 0; ; redirects++) {
      const answer = await exchange(dispatcherFor, rules, place, wanted);
      const next = redirectOf(answer, place, wanted);
      if (next === undefined || wanted.takesRedirect === true) return answer;
      if (rules.followsWithinOrigin !== true || !isWithinOrigin(next, url) || redirects >= MAX_REDIRECTS) {
        throw refused(place, `answered with a redirect (status ${answer.status}), which is not followed`);
      }
      place = next;
    }
  };
  return {
    send,
    async getJson(url, signal) {
      const headers = { accept: JSON_TYPES };
      return jsonFrom(await send(url, { headers, ...(signal === undefined ? {} : { signal }) }), url);
    },
    json: jsonFrom,
    async close() {
      await Promise.all([agent, ...proxies.values()].map((each) => each.destroy()));
    },
  };
}

/** JSON and sets of keys: the API server of Kubernetes answers 406 when the second is missing. Source: RFC 7517 §8.5. */
export const JSON_TYPES = 'application/json, application/jwk-set+json';

/**
 * The JSON object of a response with status 200.
 * @throws GatewayFault REMOTE_UNAVAILABLE naming the URL, without the body
 */
export function jsonFrom(answer: RemoteAnswer, url: string): JsonObject {
  if (answer.status !== 200) throw unavailable(url, `answered with status ${answer.status}, expected 200`);
  return jsonBody(answer, url);
}

/**
 * The JSON object of a response with any status, because OAuth errors are objects too.
 * @throws GatewayFault REMOTE_UNAVAILABLE naming the URL, without the body
 */
export function jsonBody(answer: RemoteAnswer, url: string): JsonObject {
  const value = parsedJson(answer.body); // a parser's message would quote the body
  if (!isObject(value)) throw unavailable(url, 'answered something that is not a JSON object');
  return value;
}

/** The proxy of the environment for a URL. @throws GatewayFault REMOTE_UNAVAILABLE for an invalid variable */
function proxyOn(url: string) {
  try {
    return proxyRouteFor(new URL(url), process.env);
  } catch (cause) {
    throw unavailable(url, explainCause(cause));
  }
}

/** A proxy resolves names itself; literal addresses are still checked here. */
function proxyAgent(
  { isTls, hostname, port, authorization }: NonNullable<ReturnType<typeof proxyRouteFor>>,
  rules: RemoteRules,
): ProxyAgent {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return new ProxyAgent({
    uri: `${isTls ? 'https' : 'http'}://${host}:${port}`,
    ...(authorization === undefined ? {} : { token: authorization }),
    requestTls: { timeout: rules.timeoutMs ?? TIMEOUT_MS, ...tlsOptions(rules) },
    connections: rules.connections ?? CONNECTIONS_PER_ORIGIN,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
}

async function exchange(
  dispatcherFor: (url: string) => Dispatcher,
  rules: RemoteRules,
  url: string,
  wanted: RemoteRequest,
): Promise<RemoteAnswer> {
  const problem = remoteUrlProblem(url, rules);
  if (problem !== undefined) throw refused(url, problem);
  const timeoutMs = wanted.timeoutMs ?? rules.timeoutMs ?? TIMEOUT_MS;
  const maxBytes = wanted.maxBytes ?? rules.maxBytes ?? MAX_BYTES;
  const ending = new AbortController();
  const late = setTimeout(() => ending.abort(timedOut(`no whole answer within ${timeoutMs} ms`)), timeoutMs);
  const signal = wanted.signal === undefined ? ending.signal : AbortSignal.any([ending.signal, wanted.signal]);
  try {
    const answer = await request(url, {
      dispatcher: dispatcherFor(url),
      method: wanted.method ?? 'GET',
      headers: { ...wanted.headers },
      body: wanted.body ?? null,
      signal,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    const hasBody = wanted.headOnly !== true && !isRedirect(answer.statusCode);
    if (!hasBody) answer.body.on('error', () => {}); // it is aborted below
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: hasBody ? await bodyOf(answer, maxBytes, url, wanted.take) : Buffer.alloc(0),
    };
  } catch (cause) {
    throw faultOf(cause, url);
  } finally {
    clearTimeout(late);
    ending.abort(); // closes a response that was not read completely
  }
}

function timedOut(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/** 304 answers a conditional request. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Where a redirect leads; an empty text when it cannot be followed. `undefined` for other responses. */
function redirectOf({ status, headers }: RemoteAnswer, url: string, { method = 'GET' }: RemoteRequest) {
  if (!isRedirect(status)) return undefined;
  const { location } = headers;
  const keepsMethod = method === 'GET' || status === 307 || status === 308;
  const next = typeof location === 'string' && keepsMethod ? URL.parse(location, url)?.href : undefined;
  return next ?? '';
}

function isWithinOrigin(url: string, first: string): boolean {
  return URL.parse(url)?.origin === new URL(first).origin;
}

async function bodyOf(
  answer: Dispatcher.ResponseData,
  maxBytes: number,
  url: string,
  take: RemoteRequest['take'],
): Promise<Buffer> {
  const tooLarge = () => unavailable(url, `answered more than ${maxBytes} bytes`);
  if (Number(answer.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  const keep = (answer.statusCode === 200 ? take : undefined) ?? ((chunk: Buffer) => void chunks.push(chunk));
  let bytes = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    keep(chunk);
  }
  return Buffer.concat(chunks);
}

function faultOf(cause: unknown, url: string): GatewayFault {
  if (cause instanceof GatewayFault) return cause;
  const forbidden = [cause, ...(cause instanceof AggregateError ? cause.errors : [])].find(
    (each) => each instanceof ForbiddenAddress,
  );
  if (forbidden !== undefined) return refused(url, forbidden.message);
  return unavailable(url, explainCause(cause), cause);
}

function refused(url: string, why: string): GatewayFault {
  return new GatewayFault('REMOTE_REFUSED', `${plainUrl(url)}: ${why}`);
}

function unavailable(url: string, why: string, cause?: unknown): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `${plainUrl(url)}: ${why}`, cause === undefined ? {} : { cause });
}
