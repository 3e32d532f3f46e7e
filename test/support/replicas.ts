import { definePlugin, type PlanInput, type Plugin, type Store } from '@toolmgr/core';
import { type TestBackends, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { z } from 'zod';

/** A store that the test can make unavailable, with counters. */
export interface ControllableStore extends Pick<Store, 'get' | 'set'> {
  /** How requests are handled: answered, refused, or never answered. */
  mode: 'well' | 'away' | 'silent';
  readonly asked: { gets: number; sets: number };
  readonly inner: Store;
}

/** Wraps a real store. */
export function controllableStore(inner: Store): ControllableStore {
  const asked = { gets: 0, sets: 0 };
  const through = <T>(question: () => Promise<T>): Promise<T> => {
    if (loose.mode === 'away') return Promise.reject(new Error('connection refused'));
    return loose.mode === 'silent' ? new Promise<T>(() => {}) : question();
  };
  const loose: ControllableStore = {
    mode: 'well',
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

/** One replica of a gateway: its sessions are in `store`; the header `x-caller` names the caller. */
export function replica(
  store: ControllableStore,
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

function storeNamed(name: string, { get, set, inner }: ControllableStore): Plugin {
  return definePlugin({
    address: `testing/store-${name}`,
    config: z.strictObject({}),
    apply(core) {
      let isClosed = false; // like a real store, whose connection closes with its gateway
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

/** Trusts a header that names the caller: for tests only. */
export const callersByHeader: Plugin = definePlugin({
  address: 'testing/callers-by-header',
  config: z.strictObject({}),
  apply(core) {
    core.hooks.authenticate.tap('testing/callers-by-header', ({ headers }) => {
      const subject = headers['x-caller'] ?? 'unnamed';
      return { issuer: 'test', subject, key: `test\0${subject}`, claims: {} };
    });
  },
});

/** Response to a raw request. */
export interface RawReply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: { readonly result?: Record<string, unknown>; readonly error?: { code: number; message: string } };
}

/** Sends one legacy message, or a DELETE, with any session id. */
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

/** The `initialize` request. */
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

/** Opens a session and returns its id. */
export async function openAt(at: TestGateway, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { status, headers, json } = await legacy(at, undefined, INITIALIZE, more);
  const id = headers.get('mcp-session-id');
  if (id === null) throw new Error(`no session: ${status} ${JSON.stringify(json)}`);
  return id;
}
