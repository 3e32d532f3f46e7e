import {
  ANONYMOUS,
  type Caller,
  type CatalogEntry,
  type ClientContext,
  encode,
  GatewayFault,
  type Inbound,
  type JsonObject,
  type JsonValue,
  type Refusal,
  resultFromValue,
} from '@toolmgr/core';
import type { MirroredParam } from '../../core/contract/catalog-entry.ts';
import { BytesResult } from '../../core/mcp/envelope.ts';
import { CODE, wireError } from '../../core/mcp/errors.ts';
import { META } from '../../core/mcp/meta.ts';
import type { GatewayService, ListsChanged } from '../../core/pipeline/gateway-service.ts';
import type { Answer, McpRequest } from '../../core/pipeline/mcp-request.ts';
import type { ServerDescription } from '../../core/pipeline/server-info.ts';

/** Implementation of one tool of a fake gateway. */
export type FakeTool = (request: McpRequest) => Answer | Promise<Answer>;

/** A fake gateway for tests of the protocol servers: tools are functions, and all requests are recorded. */
export interface FakeGatewayService extends GatewayService {
  readonly tools: Map<string, FakeTool>;
  readonly seen: McpRequest[];
  readonly welcomed: ClientContext[];
  readonly released: string[];
  readonly levels: string[];
  readonly rootsChangedBy: string[];
  /** `owner uri` of every open watch. */
  readonly watched: string[];
  readonly mirroredParams: Map<string, readonly MirroredParam[]>;
  /** Clients of open watches, to send updates to them. */
  readonly owners: ClientContext[];
  eras: ServerDescription['eras'];
  identifyBy: ((inbound: Inbound) => Caller | Refusal | undefined) | undefined;
  changeLists(change: ListsChanged): void;
}

export function callerNamed(subject: string): Caller {
  return { issuer: 'https://issuer.test', subject, key: `https://issuer.test\0${subject}`, claims: {} };
}

export { ANONYMOUS };

/** A result with one text block. */
export function text(value: string): Answer {
  return { result: resultFromValue({ content: [{ type: 'text', text: value }] }) };
}

/** A result of exactly these bytes. */
export function bytes(json: string): Answer {
  return { result: new BytesResult(Buffer.from(json)) };
}

/** The arguments of a call, decoded. */
export function argumentsOf(request: McpRequest): JsonObject {
  return (request.params.value('arguments') ?? {}) as JsonObject;
}

export function createFakeGatewayService(): FakeGatewayService {
  const listeners = new Set<(change: ListsChanged) => void>();
  const service: FakeGatewayService = {
    tools: new Map<string, FakeTool>(BUILT_IN),
    seen: [],
    welcomed: [],
    released: [],
    levels: [],
    rootsChangedBy: [],
    watched: [],
    owners: [],
    mirroredParams: new Map(),
    eras: ['2026-07-28', '2025-11-25'],
    identifyBy: undefined,
    identify: (inbound) => (service.identifyBy ?? identifyByToken)(inbound),
    answer: async (request) => {
      service.seen.push(request);
      return answer(service, request);
    },
    describeServer: () => ({ ...SERVER_INFO, eras: service.eras }),
    mayWatch: async (_request, uri) => {
      if (uri.startsWith('denied:')) {
        return { refusal: { refused: true, status: 403, reason: 'read denied by authorization policy' } };
      }
      if (uri.startsWith('missing:')) return { error: wireError(CODE.invalidParams, 'resource not found', { uri }) };
      return { entry: entryOf(uri) };
    },
    watch: async (_entry, uri, client) => {
      if (uri.startsWith('broken:')) throw new GatewayFault('BACKEND_UNREACHABLE', 'backend w is unavailable');
      service.watched.push(`${client.owner.key} ${uri}`);
      service.owners.push(client);
    },
    unwatch: async (_entry, uri, client) => {
      const at = service.watched.indexOf(`${client.owner.key} ${uri}`);
      if (at === -1) throw new Error(`${uri} was not watched`);
      service.watched.splice(at, 1);
    },
    prepareOwner: (client) => void service.welcomed.push(client),
    release: (key) => void service.released.push(key),
    onListsChanged: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setLogLevel: (_client, level) => void service.levels.push(level),
    rootsChanged: (client) => void service.rootsChangedBy.push(client.owner.key),
    mirrored: (name) => service.mirroredParams.get(name),
    changeLists: (change) => {
      for (const each of listeners) each(change);
    },
  };
  return service;
}

function identifyByToken({ headers }: Inbound): Caller | Refusal | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return ANONYMOUS;
  const [, name] = /^Bearer (\w+)$/.exec(authorization) ?? [];
  if (name === undefined) return undefined;
  if (name !== 'expired') return callerNamed(name);
  const challenge = 'Bearer error="invalid_token"';
  return { refused: true, status: 401, reason: 'the token has expired', headers: { 'www-authenticate': challenge } };
}

const SERVER_INFO: Omit<ServerDescription, 'eras'> = {
  serverInfo: { name: 'fake-gateway', version: '1.0.0' },
  capabilities: {
    tools: { listChanged: true },
    prompts: {},
    resources: { listChanged: true, subscribe: true },
    completions: {},
    logging: {},
  },
  instructions: 'Be kind.',
};

function entryOf(uri: string): CatalogEntry {
  return { kind: 'resource', key: uri, backend: 'w', original: uri, definition: encode({ uri }), shapedBy: [] };
}

function answer(service: FakeGatewayService, request: McpRequest): Answer | Promise<Answer> {
  if (request.method === 'tools/call') {
    const name = request.params.string('name') ?? '';
    const tool = service.tools.get(name);
    return tool === undefined ? { error: wireError(CODE.invalidParams, `unknown tool: ${name}`) } : tool(request);
  }
  if (request.method === 'resources/read') return read(request);
  if (request.method === 'prompts/get') return { result: resultFromValue({ messages: [] }) };
  if (request.method === 'completion/complete') return { result: resultFromValue({ completion: { values: [] } }) };
  return { ready: encode(list(service, request)) };
}

function read(request: McpRequest): Answer {
  const uri = request.params.string('uri') ?? '';
  if (uri.startsWith('missing:')) return { error: wireError(CODE.invalidParams, 'resource not found', { uri }) };
  return { result: resultFromValue({ contents: [{ uri, text: 'here' }], ttlMs: 5000, cacheScope: 'public' }) };
}

function list(service: FakeGatewayService, { method, client }: McpRequest): JsonObject {
  const key = { 'tools/list': 'tools', 'prompts/list': 'prompts', 'resources/list': 'resources' }[method];
  const tools: JsonValue = [...service.tools.keys()].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const items = { [key ?? 'resourceTemplates']: key === 'tools' ? tools : [] };
  if (client.era === '2025-11-25') return items;
  const meta = { [META.serverInfo]: SERVER_INFO.serverInfo };
  return { ...items, ttlMs: 0, cacheScope: 'private', resultType: 'complete', _meta: meta };
}

const BUILT_IN: readonly (readonly [string, FakeTool])[] = [
  [
    'echo',
    (request) => bytes(`{"content":[],"structuredContent":${request.params.get('arguments')?.toString() ?? '{}'}}`),
  ],
  ['progress', sendProgress],
  ['elicit', elicit],
  ['boom', () => Promise.reject(new Error('secret detail: token=abc'))],
  ['denied', () => ({ refusal: { refused: true, status: 403, reason: 'call denied by authorization policy' } })],
  ['limited', () => ({ refusal: { refused: true, status: 429, reason: 'rate limit exceeded', retryAfterMs: 1500 } })],
];

function sendProgress({ client }: McpRequest): Answer {
  const { progressToken } = client;
  for (const progress of [1, 2, 3]) {
    if (progressToken === undefined) break;
    client.notify('notifications/progress', Buffer.from(`{"progressToken":${progressToken},"progress":${progress}}`));
  }
  return text('done');
}

async function elicit({ client, cancel }: McpRequest): Promise<Answer> {
  if (client.request === undefined) return text('cannot ask');
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  const params = encode({ mode: 'form', message: 'Who are you?', requestedSchema: schema });
  const answered = await client.request('elicitation/create', params, cancel.signal);
  return text('error' in answered ? `error ${answered.error.code}` : answered.result.toString());
}
