import type { AuthContext, Authorizer, BackendRequest, Caller } from '@toolmgr/core';
import { type UpstreamTokens, upstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { accountsOnMemory, signedIn } from './accounts.ts';
import { pluginCore } from './plugin-core.ts';

export const NEVER: AbortSignal = new AbortController().signal;

/** The caller of the gateway's own requests. */
export const GATEWAY: Caller = { issuer: '', subject: 'gateway', key: '\0gateway', claims: {} };

/** Sends one request through an authorizer and returns its headers. */
export async function headersOf(
  authorizer: Authorizer,
  caller: Caller,
  {
    purpose = 'call',
    signal = NEVER,
    backend = 'far',
  }: Partial<Omit<AuthContext, 'caller'>> & { backend?: string } = {},
): Promise<Readonly<Record<string, string>>> {
  const outbound = requestTo(backend);
  await authorizer.apply(outbound, { caller, purpose, signal });
  return outbound.headers;
}

/** A request without headers. */
export function requestTo(backend: string): BackendRequest {
  const far = { name: backend, transport: 'streamable-http' } as const;
  return { backend: far, method: 'POST', url: 'http://127.0.0.1:1/mcp', headers: {} };
}

/** Slots with an authorization server whose people have connected `idp`, and the people themselves. */
export async function authServerSlots(over: Partial<UpstreamTokens> = {}, environment: NodeJS.ProcessEnv = {}) {
  const test = accountsOnMemory();
  const { slots, slot } = pluginCore(environment);
  const { upstreamTokens: tokens } = test;
  slot(upstreamTokens).register('auth-server', {
    providers: ['idp', 'github'],
    primary: 'idp',
    isInjectionDisabled: false,
    ...tokens,
    ...over,
  });
  const ada = await signedIn(test, test.idp, 'ada');
  const bob = await signedIn(test, test.idp, 'bob');
  return { ...test, slots, slot, ada: ada.caller, bob: bob.caller };
}
