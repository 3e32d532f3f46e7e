import { definePlugin, type PlanInput, type Plugin, type Store } from '@toolmgr/core';
import { type TestBackends, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { z } from 'zod';

/** A store that its owner can take away, and that counts what it is asked. */
export interface LooseStore extends Pick<Store, 'get' | 'set'> {
  /** What happens to questions: answered, refused, or never answered. */
  mood: 'well' | 'away' | 'silent';
  readonly asked: { gets: number; sets: number };
  readonly inner: Store;
}

/** Puts a store of its own mood in front of a real one. */
export function looseStore(inner: Store): LooseStore {
  const asked = { gets: 0, sets: 0 };
  const through = <T>(question: () => Promise<T>): Promise<T> => {
    if (loose.mood === 'away') return Promise.reject(new Error('connection refused'));
    return loose.mood === 'silent' ? new Promise<T>(() => {}) : question();
  };
  const loose: LooseStore = {
    mood: 'well',
    asked,
    inner,
    get(key, ttlMs) {
      asked.gets++;
      return through(() => inner.get(key, ttlMs));
    },
    set(key, value, ttlMs) {
      asked.sets++;
      return through(() => inner.set(key, value, ttlMs));
    },
  };
  return loose;
}

/** One replica of a gateway: its sessions are in `store`, callers say who they are in the header `x-caller`. */
export function replica(
  store: LooseStore,
  backends: TestBackends,
  limits: PlanInput['limits'] = {},
  now: () => number = Date.now,
  before?: TestGateway,
): Promise<TestGateway> {
  return testGateway({
    backends,
    now,
    ...(before === undefined ? {} : { successorOf: before.gateway }),
    plugins: [storeNamed('shared', store), callersByHeader],
    plan: { sessionStorage: { store: 'shared' }, limits: { sessionCheckMs: 0, ...limits } },
  });
}

function storeNamed(name: string, { get, set, inner }: LooseStore): Plugin {
  return definePlugin({
    address: `testing/store-${name}`,
    config: z.strictObject({}),
    apply(core) {
      let isClosed = false; // as a real one, whose connection ends with its gateway
      const open = <T>(question: () => Promise<T>): Promise<T> =>
        isClosed ? Promise.reject(new Error('the store is closed')) : question();
      const store: Store = {
        get: (key, ttlMs) => open(() => get(key, ttlMs)),
        set: (key, value, ttlMs) => open(() => set(key, value, ttlMs)),
        delete: (key) => open(() => inner.delete(key)),
        take: async () => 0,
        close: async () => {},
      };
      core.hooks.stopping.tap(`testing/store-${name}`, () => {
        isClosed = true;
      });
      core.slots.stores.register(name, store);
    },
  });
}

/** Believes what clients say about themselves: for tests only. */
export const callersByHeader: Plugin = definePlugin({
  address: 'testing/callers-by-header',
  config: z.strictObject({}),
  apply(core) {
    core.hooks.authenticate.tap('testing/callers-by-header', ({ headers }) => {
      const subject = headers['x-caller'] ?? 'nobody';
      return { issuer: 'test', subject, key: `test\0${subject}`, claims: {} };
    });
  },
});

/** What a raw request got. */
export interface RawReply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: { readonly result?: Record<string, unknown>; readonly error?: { code: number; message: string } };
}

/** Sends one legacy message, or a DELETE, with a session id of the sender's choice. */
export async function legacy(
  at: TestGateway,
  session: string | undefined,
  message: object | 'DELETE',
  more: Readonly<Record<string, string>> = {},
): Promise<RawReply> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...more,
  };
  const init = message === 'DELETE' ? { method: 'DELETE' } : { method: 'POST', body: JSON.stringify(message) };
  const response = await at.gateway.fetch(new Request('http://localhost/mcp', { ...init, headers }));
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text === '' ? {} : JSON.parse(text) };
}

/** The message that opens a session. */
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** A request of a session. */
export const request = (method: string, params: object = {}, id: number | string = 2) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** Opens a session and gives its id. */
export async function openAt(at: TestGateway, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { status, headers, json } = await legacy(at, undefined, INITIALIZE, more);
  const id = headers.get('mcp-session-id');
  if (id === null) throw new Error(`no session: ${status} ${JSON.stringify(json)}`);
  return id;
}
