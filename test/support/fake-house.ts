import type { Asker } from '../../core/contract/call.ts';
import type { Caller } from '../../core/contract/caller.ts';
import type { Inbound } from '../../core/contract/inbound.ts';
import type { JsonObject, JsonValue } from '../../core/contract/json.ts';
import type { Refusal } from '../../core/contract/refusal.ts';
import type { CatalogEntry, MirroredParam } from '../../core/contract/tool.ts';
import { GatewayFault } from '../../core/errors.ts';
import { CODE, wireError } from '../../core/protocol/errors.ts';
import type { Answer, Face, House, Intent, ListsChanged } from '../../core/protocol/intent.ts';
import { META } from '../../core/protocol/meta.ts';
import { encode } from '../../core/protocol/raw-json.ts';
import { BytesResult, resultFromValue } from '../../core/protocol/result.ts';

/** What answers one tool of a fake house. */
export type FakeTool = (intent: Intent) => Answer | Promise<Answer>;

/** A house for tests of the client edge: tools are functions, everything asked of it is written down. */
export interface FakeHouse extends House {
  readonly tools: Map<string, FakeTool>;
  readonly seen: Intent[];
  readonly welcomed: Asker[];
  readonly released: string[];
  readonly levels: string[];
  readonly rootsTold: string[];
  /** `owner uri` of every watch that is open. */
  readonly watched: string[];
  readonly mirroredParams: Map<string, readonly MirroredParam[]>;
  /** Owners of open watches, to send updates through their sinks. */
  readonly owners: Asker[];
  eras: Face['eras'];
  identifyBy: ((inbound: Inbound) => Caller | Refusal | undefined) | undefined;
  changeLists(change: ListsChanged): void;
}

export function callerNamed(subject: string): Caller {
  return { issuer: 'https://issuer.test', subject, key: `https://issuer.test\0${subject}`, claims: {} };
}

export const ANONYMOUS: Caller = { issuer: '', subject: 'anonymous', key: '\0anonymous', claims: {} };

/** A result with one text block. */
export function text(value: string): Answer {
  return { result: resultFromValue({ content: [{ type: 'text', text: value }] }) };
}

/** A result of exactly these bytes. */
export function bytes(json: string): Answer {
  return { result: new BytesResult(Buffer.from(json)) };
}

/** The arguments of a call, decoded. */
export function argumentsOf(intent: Intent): JsonObject {
  return (intent.params.value('arguments') ?? {}) as JsonObject;
}

export function createFakeHouse(): FakeHouse {
  const listeners = new Set<(change: ListsChanged) => void>();
  const house: FakeHouse = {
    tools: new Map<string, FakeTool>(BUILT_IN),
    seen: [],
    welcomed: [],
    released: [],
    levels: [],
    rootsTold: [],
    watched: [],
    owners: [],
    mirroredParams: new Map(),
    eras: ['2026-07-28', '2025-11-25'],
    identifyBy: undefined,
    identify: (inbound) => (house.identifyBy ?? identifyByToken)(inbound),
    answer: async (intent) => {
      house.seen.push(intent);
      return answer(house, intent);
    },
    face: () => ({ ...FACE, eras: house.eras }),
    mayWatch: async (_intent, uri) => {
      if (uri.startsWith('denied:')) {
        return { refusal: { refused: true, status: 403, reason: 'read denied by authorization policy' } };
      }
      if (uri.startsWith('missing:')) return { error: wireError(CODE.invalidParams, 'resource not found', { uri }) };
      return { entry: entryOf(uri) };
    },
    watch: async (_entry, uri, asker) => {
      if (uri.startsWith('broken:')) throw new GatewayFault('BACKEND_UNREACHABLE', 'backend w is away');
      house.watched.push(`${asker.owner.key} ${uri}`);
      house.owners.push(asker);
    },
    unwatch: async (_entry, uri, asker) => {
      const at = house.watched.indexOf(`${asker.owner.key} ${uri}`);
      if (at === -1) throw new Error(`${uri} was not watched`);
      house.watched.splice(at, 1);
    },
    welcome: (asker) => void house.welcomed.push(asker),
    release: (key) => void house.released.push(key),
    onListsChanged: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setLogLevel: (_asker, level) => void house.levels.push(level),
    rootsChanged: (asker) => void house.rootsTold.push(asker.owner.key),
    mirrored: (name) => house.mirroredParams.get(name),
    changeLists: (change) => {
      for (const each of listeners) each(change);
    },
  };
  return house;
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

const FACE: Omit<Face, 'eras'> = {
  serverInfo: { name: 'fake-house', version: '1.0.0' },
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
  return { kind: 'resource', key: uri, workload: 'w', original: uri, definition: encode({ uri }), shapedBy: [] };
}

function answer(house: FakeHouse, intent: Intent): Answer | Promise<Answer> {
  if (intent.method === 'tools/call') {
    const name = intent.params.string('name') ?? '';
    const tool = house.tools.get(name);
    return tool === undefined ? { error: wireError(CODE.invalidParams, `unknown tool: ${name}`) } : tool(intent);
  }
  if (intent.method === 'resources/read') return read(intent);
  if (intent.method === 'prompts/get') return { result: resultFromValue({ messages: [] }) };
  if (intent.method === 'completion/complete') return { result: resultFromValue({ completion: { values: [] } }) };
  return { ready: encode(list(house, intent)) };
}

function read(intent: Intent): Answer {
  const uri = intent.params.string('uri') ?? '';
  if (uri.startsWith('missing:')) return { error: wireError(CODE.invalidParams, 'resource not found', { uri }) };
  return { result: resultFromValue({ contents: [{ uri, text: 'here' }], ttlMs: 5000, cacheScope: 'public' }) };
}

function list(house: FakeHouse, { method, asker }: Intent): JsonObject {
  const key = { 'tools/list': 'tools', 'prompts/list': 'prompts', 'resources/list': 'resources' }[method];
  const tools: JsonValue = [...house.tools.keys()].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const items = { [key ?? 'resourceTemplates']: key === 'tools' ? tools : [] };
  if (asker.era === '2025-11-25') return items;
  const meta = { [META.serverInfo]: FACE.serverInfo };
  return { ...items, ttlMs: 0, cacheScope: 'private', resultType: 'complete', _meta: meta };
}

const BUILT_IN: readonly (readonly [string, FakeTool])[] = [
  [
    'echo',
    (intent) => bytes(`{"content":[],"structuredContent":${intent.params.get('arguments')?.toString() ?? '{}'}}`),
  ],
  ['progress', tellProgress],
  ['elicit', elicit],
  ['boom', () => Promise.reject(new Error('secret detail: token=abc'))],
  ['denied', () => ({ refusal: { refused: true, status: 403, reason: 'call denied by authorization policy' } })],
  ['limited', () => ({ refusal: { refused: true, status: 429, reason: 'rate limit exceeded', retryAfterMs: 1500 } })],
];

function tellProgress({ asker }: Intent): Answer {
  const { progressToken } = asker;
  for (const progress of [1, 2, 3]) {
    if (progressToken === undefined) break;
    asker.tell('notifications/progress', Buffer.from(`{"progressToken":${progressToken},"progress":${progress}}`));
  }
  return text('done');
}

async function elicit({ asker, cancel }: Intent): Promise<Answer> {
  if (asker.ask === undefined) return text('cannot ask');
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  const params = encode({ mode: 'form', message: 'Who are you?', requestedSchema: schema });
  const answered = await asker.ask('elicitation/create', params, cancel.signal);
  return text('error' in answered ? `error ${answered.error.code}` : answered.result.toString());
}
