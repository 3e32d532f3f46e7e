import type { JsonObject } from '@toolmgr/core';
import { type Clients, type ClientsInput, createClients } from '../../../../plugins/auth-server/clients/clients.ts';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import { pluginCore } from '../../../support/plugin-core.ts';

/** The clients of an authorization server on memory, with a clock that the test moves. */
export function clientsOnMemory(changes: Partial<Omit<ClientsInput, 'config'>> & Partial<ClientsInput['config']> = {}) {
  const core = pluginCore();
  const now = (): number => core.clock.nowMs;
  const { cimd, confidentialClients, baselineClientScopes, ...rest } = changes;
  const storage = rest.storage ?? createMemoryStorage(now);
  const clients = createClients({
    config: {
      cimd: cimd ?? { enabled: false, cacheFallbackTtl: 300_000, cacheMaxSize: 256 },
      confidentialClients: confidentialClients ?? false,
      baselineClientScopes: baselineClientScopes ?? [],
    },
    storage,
    supportedScopes: ['openid', 'profile', 'email', 'offline_access', 'tools'],
    issuer: 'https://gateway.example',
    report: () => {},
    log: core.log,
    now,
    ...rest,
  });
  return { clients, storage, clock: core.clock, lines: core.lines };
}

/** The answer of the registration endpoint. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly json: JsonObject;
}

/** Sends a registration as the HTTP host would. */
export async function register(
  { register: answer }: Pick<Clients, 'register'>,
  body: object | string,
  { address = '192.0.2.1', type = 'application/json' }: { readonly address?: string; readonly type?: string } = {},
): Promise<Answered> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const inbound = {
      method: 'POST',
      path: '/oauth/register',
      headers: { 'content-type': type },
      remoteAddress: address,
      signal: new AbortController().signal,
    };
    const responder = {
      send: (status: number, headers: Readonly<Record<string, unknown>>, sent?: unknown) =>
        resolve({ status, headers, json: JSON.parse(String(sent)) as JsonObject }),
      open: () => reject(new Error('expected one whole response')),
      onDisconnect: () => {},
    };
    Promise.resolve(answer(inbound, Buffer.from(text), responder as never)).catch(reject);
  });
}
