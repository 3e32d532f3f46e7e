import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Backend,
  type BackendChanged,
  type Call,
  type CallResult,
  type CatalogEntry,
  type ClientContext,
  DEFAULT_LIMITS,
  type JsonObject,
  type JsonValue,
  type Plan,
  RawObject,
} from '@toolmgr/core';
import { onTestFinished } from 'vitest';
import type { BackendManager } from '../../../core/backend/backend-manager.ts';
import { type BackendManagerOptions, createBackendManager } from '../../../core/backend/create-manager.ts';
import type { CallMethod } from '../../../core/contract/call.ts';
import type { ClientRequester, SessionOwner } from '../../../core/contract/client-context.ts';
import { cancellationOf } from '../../../core/timing/cancel.ts';

export const REPOSITORY = new URL('../../../', import.meta.url).pathname;

/** The script of a published server. */
export function published(name: string): string {
  return `${REPOSITORY}node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
}

/** A stdio backend that runs one script with this Node. */
export function stdioBackend(
  name: string,
  script: string,
  args: readonly string[] = [],
  rest: Partial<Backend> = {},
): Backend {
  return { name, transport: 'stdio', command: { file: process.execPath, args: [script, ...args] }, ...rest };
}

/** A fixture beside this file. */
export function fixture(name: string): string {
  return new URL(`./fixtures/${name}`, import.meta.url).pathname;
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: JsonObject | undefined;
}

/** A backend manager under test and its events. */
export interface TestManager {
  readonly manager: BackendManager;
  readonly listed: string[];
  readonly changed: BackendChanged[];
  readonly lines: LogLine[];
}

export type ManagerOverrides = Partial<Omit<BackendManagerOptions, 'limits'>> & {
  readonly limits?: Partial<Plan['limits']>;
};

/** A backend manager that stops with its test. */
export function testManager(overrides: ManagerOverrides = {}): TestManager {
  const listed: string[] = [];
  const changed: BackendChanged[] = [];
  const lines: LogLine[] = [];
  const line = (level: string) => (message: string, fields?: JsonObject) => void lines.push({ level, message, fields });
  const manager = createBackendManager({
    timeouts: { defaultMs: 10_000, perWorkloadMs: {} },
    authorizer: () => ({ apply() {} }),
    clientInfo: { name: 'backend-test', version: '1.0.0' },
    now: () => Date.now(),
    environment: process.env,
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    events: {
      listed: (backend, capabilityClass) => void listed.push(`${backend}/${capabilityClass}`),
      changed: (event) => void changed.push(event),
    },
    ...overrides,
    limits: { ...DEFAULT_LIMITS, discoveryMs: 15_000, coalesceMs: 10, ...overrides.limits },
  });
  onTestFinished(() => manager.stop());
  return { manager, listed, changed, lines };
}

/** A backend manager that already has these backends. */
export async function managerWith(
  backends: readonly Backend[],
  overrides: ManagerOverrides = {},
): Promise<TestManager> {
  const test = testManager(overrides);
  test.manager.replace(backends);
  await test.manager.settling();
  return test;
}

const CALLER = { issuer: '', subject: 'tester', key: '\u0000tester', claims: {} } as const;

/** An owner of sessions; its sink records what it receives. */
export function testOwner(key: string, capabilities: JsonObject = {}, ask?: ClientRequester) {
  const updated: string[] = [];
  const logged: string[] = [];
  const changed: string[] = [];
  const owner: SessionOwner = {
    key,
    caller: CALLER,
    capabilities,
    capabilityClass: Object.keys(capabilities).sort().join('+'),
    sink: {
      resourceUpdated: (_, params) => void updated.push(params.toString()),
      logged: (_, params) => void logged.push(params.toString()),
      listsChanged: (_, kinds) => void changed.push(...kinds),
      ...(ask === undefined ? {} : { request: ask }),
    },
  };
  return { owner, updated, logged, changed };
}

/** What a test sends. */
export interface Sent {
  readonly backend: string;
  readonly method?: CallMethod;
  /** The backend's own name; the advertised one gets `x_` in front. */
  readonly original: string;
  readonly kind?: CatalogEntry['kind'];
  /** Advertised name or URI; default `x_` + original for tools and prompts, original otherwise. */
  readonly name?: string;
  readonly arguments?: JsonObject;
  /** The raw params object instead of one made from name and arguments. */
  readonly params?: string;
  readonly meta?: string;
  readonly owner?: SessionOwner;
  readonly client?: Partial<ClientContext>;
  readonly call?: Partial<Call>;
  readonly signal?: AbortSignal;
}

/** A call as the pipeline makes it, and the notifications to its client. */
export function callOf(sent: Sent): { call: Call; told: { method: string; params: string }[] } {
  const told: { method: string; params: string }[] = [];
  const { method = 'tools/call', original } = sent;
  const named = method === 'tools/call' || method === 'prompts/get';
  const name = sent.name ?? (named ? `x_${original}` : original);
  const own = named ? { name, arguments: sent.arguments ?? {} } : { uri: name };
  const members = RawObject.parse(Buffer.from(sent.params ?? JSON.stringify(own)));
  const owner = sent.owner ?? testOwner('session:test').owner;
  const kind = sent.kind ?? (method === 'tools/call' ? 'tool' : method === 'prompts/get' ? 'prompt' : 'resource');
  const signal = sent.signal ?? new AbortController().signal;
  const call: Call = {
    id: 'call-1',
    method,
    name,
    target: { kind, key: name, backend: sent.backend, original, definition: Buffer.from('{}'), shapedBy: [] },
    params: members.toBytes(),
    members,
    arguments: sent.arguments ?? {},
    meta: sent.meta === undefined ? undefined : Buffer.from(sent.meta),
    caller: owner.caller,
    client: {
      era: '2025-11-25',
      capabilities: owner.capabilities,
      clientInfo: undefined,
      owner,
      progressToken: undefined,
      logLevel: undefined,
      notify: (to, params) => void told.push({ method: to, params: params.toString() }),
      ...sent.client,
    },
    headers: {},
    round: 1,
    signal,
    cancel: cancellationOf(signal),
    ...sent.call,
  };
  return { call, told };
}

/** Sends and gives the result. */
export function send(manager: BackendManager, sent: Sent): Promise<CallResult> {
  return manager.send(callOf(sent).call);
}

/** The first text block of a result. */
export function textOf(result: CallResult): string {
  const content = result.value.content;
  const first = Array.isArray(content) ? (content[0] as JsonObject | undefined) : undefined;
  return typeof first?.text === 'string' ? first.text : '';
}

/** One request that a fake server got. */
export interface Got {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body decoded, `undefined` for none. */
  readonly message: Message | undefined;
  readonly body: string;
  readonly response: ServerResponse;
}

export interface Message {
  readonly id?: JsonValue;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: JsonObject;
}

/** A real HTTP server with a scripted answer; ends with its test. */
export async function httpServer(answer: (got: Got) => void | Promise<void>, port = 0) {
  const all: Got[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const message = body === '' ? undefined : (JSON.parse(body) as Message);
      const { method = '', url: path = '', headers } = request;
      const got = { method, path, headers, message, body, response };
      all.push(got);
      void answer(got);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(() => close().catch(() => undefined));
  const address = server.address() as AddressInfo;
  const of = (method: string) => all.filter((got) => got.message?.method === method);
  return { url: `http://127.0.0.1:${address.port}/mcp`, port: address.port, all, of, close };
}

export function json(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function answer(got: Got, result: JsonObject | string, headers: Record<string, string> = {}): void {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  json(got.response, `{"jsonrpc":"2.0","id":${JSON.stringify(got.message?.id)},"result":${text}}`, 200, headers);
}

export function refuse(got: Got, code: number, message: string, status = 200, data?: JsonValue): void {
  json(got.response, { jsonrpc: '2.0', id: got.message?.id ?? null, error: { code, message, data } }, status);
}

export interface FakeOptions {
  readonly tools?: readonly JsonObject[];
  readonly capabilities?: JsonObject;
  /** Takes a request before the usual answer; `true` = answered. */
  before?(got: Got): boolean | undefined | void;
}

const ECHO = { name: 'echo', inputSchema: { type: 'object' } } as const;

/** The usual answers of a 2025-11-25 server with sessions. */
export function legacyAnswers(options: FakeOptions = {}) {
  let sessions = 0;
  return (got: Got): void => {
    if (options.before?.(got) === true) return;
    const { response, message } = got;
    if (got.method === 'GET') return void response.writeHead(405).end();
    if (got.method === 'DELETE') return void response.writeHead(200).end();
    if (message?.method === undefined || message.id === undefined) return void response.writeHead(202).end();
    const capabilities = options.capabilities ?? { tools: {} };
    if (message.method === 'initialize') {
      const hello = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'fake', version: '1' } };
      return answer(got, hello, { 'mcp-session-id': `s${++sessions}` });
    }
    if (message.method === 'tools/list') return answer(got, { tools: options.tools ?? [ECHO] });
    if (message.method === 'tools/call') return answer(got, { content: [{ type: 'text', text: 'legacy' }] });
    refuse(got, -32601, 'unknown method');
  };
}

/** The usual answers of a 2026-07-28 server. */
export function modernAnswers(options: FakeOptions = {}) {
  return (got: Got): void => {
    if (options.before?.(got) === true) return;
    const { message } = got;
    const capabilities = options.capabilities ?? { tools: {} };
    const hints = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    if (message?.method === 'server/discover') {
      return answer(got, { supportedVersions: ['2026-07-28'], capabilities, ...hints });
    }
    if (message?.method === 'tools/list') return answer(got, { tools: options.tools ?? [ECHO], ...hints });
    if (message?.method === 'tools/call') {
      return answer(got, { content: [{ type: 'text', text: 'modern' }], resultType: 'complete' });
    }
    refuse(got, -32601, 'unknown method', 404);
  };
}

export function httpBackend(url: string, rest: Partial<Backend> = {}): Backend {
  return { name: 'far', transport: 'streamable-http', url, ...rest };
}

/** Begins an event stream. */
export function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
}

/** Writes one event. */
export function event(response: ServerResponse, message: unknown, id?: string): void {
  const data = typeof message === 'string' ? message : JSON.stringify(message);
  response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`);
}
