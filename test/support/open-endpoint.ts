import { request as httpRequest, type IncomingMessage } from 'node:http';
import {
  DEFAULT_LIMITS,
  type JsonObject,
  type JsonValue,
  type Log,
  type Plan,
  type RouteTable,
  type SessionEnded,
} from '@toolmgr/core';
import { createHooks } from '../../core/extension/hooks.ts';
import { mountedRoutes } from '../../core/gateway/mounted-routes.ts';
import { ByteBudget } from '../../core/mcp/byte-budget.ts';
import { createEndpoint, type Endpoint, type EndpointOptions } from '../../core/server/endpoint.ts';
import { createFakeGatewayService, type FakeGatewayService } from './fake-gateway.ts';
import { loopbackServer } from './loopback-server.ts';

/** An endpoint behind a real HTTP server on a free loopback port. */
export interface OpenEndpoint extends AsyncDisposable {
  readonly endpoint: Endpoint;
  readonly service: FakeGatewayService;
  readonly origin: string;
  readonly url: string;
  readonly ended: SessionEnded[];
  readonly logged: { readonly level: string; readonly message: string; readonly fields: JsonObject | undefined }[];
  /** Milliseconds that `now` is ahead of the real clock. */
  readonly clock: { aheadMs: number };
}

/** Options of a test endpoint; limits are merged with the defaults. */
export type OpenOptions = Partial<Omit<EndpointOptions, 'limits' | 'service'>> & {
  readonly limits?: Partial<Plan['limits']>;
  readonly service?: FakeGatewayService;
};

/** Routes of an endpoint, as plugins mount them. */
export function routesOf(mount: (table: RouteTable) => void): ReturnType<typeof mountedRoutes> {
  const hooks = createHooks(() => {});
  hooks.mount.tap('test', mount);
  return mountedRoutes(hooks, '/mcp');
}

export async function openEndpoint(options: OpenOptions = {}): Promise<OpenEndpoint> {
  const service = options.service ?? createFakeGatewayService();
  const ended: SessionEnded[] = [];
  const logged: OpenEndpoint['logged'] = [];
  const clock = { aheadMs: 0 };
  const limits = { ...DEFAULT_LIMITS, stopMs: 1000, ...options.limits };
  const endpoint = createEndpoint({
    path: '/mcp',
    loopback: true,
    log: recordingLog(logged),
    now: () => Date.now() + clock.aheadMs,
    onSessionEnded: (each) => void ended.push(each),
    ...{ bytes: new ByteBudget(limits), ...options },
    service,
    limits,
  });
  const server = await loopbackServer((request, response) => endpoint.handle(request, response));
  const origin = server.url;
  return {
    endpoint,
    service,
    origin,
    url: `${origin}/mcp`,
    ended,
    logged,
    clock,
    async [Symbol.asyncDispose]() {
      await endpoint.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}

function recordingLog(lines: OpenEndpoint['logged']): Log {
  const at = (level: string) => (message: string, fields?: JsonObject) => void lines.push({ level, message, fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A complete HTTP response. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The decoded body, if it is JSON. */
  readonly json: JsonReply;
}

/** The members of a JSON-RPC response that tests check. */
export interface JsonReply {
  readonly id?: JsonValue;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
  readonly code?: string;
}

/** POSTs a body and accepts both content types. */
export async function post(
  url: string,
  body: JsonValue | string | Buffer,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Reply> {
  return wholeReply(await postStream(url, body, headers, signal));
}

/** Like {@link post}, but returns the open response. */
export function postStream(
  url: string,
  body: JsonValue | string | Buffer,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  return fetch(url, { method: 'POST', headers: all, body: text as string, signal: signal ?? null });
}

export async function wholeReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as JsonReply) : {},
  };
}

/** Sends exactly these headers, including `host`, which `fetch` does not allow. */
export function rawRequest(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<{ readonly status: number; readonly headers: IncomingMessage['headers']; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Params with a complete modern envelope. */
export function modernParams(
  params: JsonObject = {},
  meta: JsonObject = {},
  capabilities: JsonObject = {},
): JsonObject {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      ...meta,
    },
  };
}

/** A modern request and its headers. */
export function modernRequest(
  method: string,
  params: JsonObject = {},
  { id = 7, meta = {}, capabilities = {} }: { id?: string | number; meta?: JsonObject; capabilities?: JsonObject } = {},
): { readonly body: JsonObject; readonly headers: Record<string, string> } {
  const name = method === 'resources/read' ? params.uri : params.name;
  return {
    body: { jsonrpc: '2.0', id, method, params: modernParams(params, meta, capabilities) },
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
  };
}

/** Calls a method as a modern client. */
export function postModern(
  url: string,
  method: string,
  params: JsonObject = {},
  options: {
    id?: string | number;
    meta?: JsonObject;
    capabilities?: JsonObject;
    headers?: Record<string, string>;
  } = {},
): Promise<Reply> {
  const { body, headers } = modernRequest(method, params, options);
  return post(url, body, { ...headers, ...options.headers });
}

/** A raw legacy session. */
export interface LegacySession {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  request(method: string, params?: JsonObject, id?: string | number): Promise<Reply>;
  send(message: JsonObject): Promise<Reply>;
  stream(method: string, params?: JsonObject, id?: string | number, signal?: AbortSignal): Promise<EventReader>;
  get(headers?: Record<string, string>, signal?: AbortSignal): Promise<EventReader>;
}

export async function openSession(
  url: string,
  {
    capabilities = {},
    version = '2025-11-25',
    headers: extra = {},
  }: { capabilities?: JsonObject; version?: string; headers?: Record<string, string> } = {},
): Promise<LegacySession> {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } };
  const reply = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, extra);
  const id = reply.headers.get('mcp-session-id');
  if (id === null) throw new Error(`no session: ${reply.status} ${reply.text}`);
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': version, ...extra };
  const session: LegacySession = {
    id,
    headers,
    request: (method, asked = {}, requestId = 1) =>
      post(url, { jsonrpc: '2.0', id: requestId, method, params: asked }, headers),
    send: (message) => post(url, { jsonrpc: '2.0', ...message }, headers),
    async stream(method, asked = {}, requestId = 1, signal = undefined) {
      const body = { jsonrpc: '2.0', id: requestId, method, params: asked };
      return readEvents(await postStream(url, body, headers, signal));
    },
    async get(more = {}, signal = undefined) {
      const all = { accept: 'text/event-stream', ...headers, ...more };
      return readEvents(await fetch(url, { headers: all, signal: signal ?? null }));
    },
  };
  await session.send({ method: 'notifications/initialized' });
  return session;
}

/** One server-sent event. */
export interface ServerEvent {
  readonly id: string | undefined;
  readonly data: string;
  readonly retry: string | undefined;
  readonly comment: string | undefined;
  /** The data decoded; `{}` when there is none. */
  readonly message: JsonReply & { readonly method?: string; readonly params?: JsonObject };
}

/** Reads the events of a response one by one. */
export interface EventReader {
  readonly response: Response;
  /** The next event with a message; comments and priming events are skipped. */
  next(): Promise<ServerEvent | undefined>;
  /** The next event of any kind; `undefined` at the end. */
  nextRaw(): Promise<ServerEvent | undefined>;
  /** All remaining events. */
  rest(): Promise<readonly ServerEvent[]>;
  close(): Promise<void>;
}

export function readEvents(response: Response): EventReader {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let buffered = '';
  const nextRaw = async (): Promise<ServerEvent | undefined> => {
    for (;;) {
      const end = buffered.indexOf('\n\n');
      if (end !== -1) {
        const block = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        return eventFrom(block);
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      buffered += decoder.decode(value, { stream: true });
    }
  };
  const next = async (): Promise<ServerEvent | undefined> => {
    for (;;) {
      const event = await nextRaw();
      if (event === undefined || event.data !== '') return event;
    }
  };
  return {
    response,
    next,
    nextRaw,
    async rest() {
      const events: ServerEvent[] = [];
      for (let event = await next(); event !== undefined; event = await next()) events.push(event);
      return events;
    },
    close: () => reader.cancel().catch(() => {}),
  };
}

function eventFrom(block: string): ServerEvent {
  const lines = block.split('\n');
  const field = (name: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const data = field('data').join('\n');
  return {
    id: field('id')[0],
    data,
    retry: field('retry')[0],
    comment: field('')[0],
    message: data === '' ? {} : (JSON.parse(data) as ServerEvent['message']),
  };
}
