import type { AuthContext, Authorizer, AuthStrategy, BackendRequest } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { prepareAuthorizers } from '../../../core/backend/authorizers.ts';
import { pluginCore } from '../../support/plugin-core.ts';

const setting = (name: string, more: Partial<Authorizer> = {}): Authorizer => ({
  headerNames: [name],
  apply(outbound) {
    outbound.headers[name] = 'set';
  },
  ...more,
});

/** Delegates: `own` has credentials of callers, all others a fixed header. */
const delegating: AuthStrategy = {
  prepare: async () => ({
    perCaller: true,
    apply: () => {
      throw new Error('called without a backend');
    },
    forBackend: (backend) =>
      backend === 'own'
        ? { ...setting('authorization', { perCaller: true }), strategy: 'token_exchange' }
        : { ...setting('x-fixed'), strategy: 'header_injection' },
  }),
};

async function prepared(passthroughHeaders: readonly string[] = []) {
  const { slots } = pluginCore();
  slots.authStrategies.register('delegating', delegating);
  slots.authStrategies.register('listed', { prepare: async () => setting('x-listed') });
  const outgoingAuth = { default: { type: 'delegating' }, backends: { listed: { type: 'listed' } } };
  return prepareAuthorizers({ outgoingAuth, passthroughHeaders }, slots);
}

async function headersTo(name: string, authorizer: Authorizer): Promise<object> {
  const backend = { name, transport: 'streamable-http', url: 'http://far/mcp' } as const;
  const outbound: BackendRequest = { backend, method: 'POST', url: backend.url, headers: {} };
  await authorizer.apply(outbound, {} as AuthContext);
  return outbound.headers;
}

describe('a default strategy that delegates for each backend', () => {
  it('sets the credentials of that backend, and an entry of the plan wins', async () => {
    const authorizers = await prepared();
    expect(await headersTo('own', authorizers.of('own'))).toEqual({ authorization: 'set' });
    expect(await headersTo('other', authorizers.of('other'))).toEqual({ 'x-fixed': 'set' });
    expect(await headersTo('listed', authorizers.of('listed'))).toEqual({ 'x-listed': 'set' });
    expect(['own', 'other', 'listed'].map((name) => authorizers.strategyOf(name))).toEqual([
      'token_exchange',
      'header_injection',
      'listed',
    ]);
  });

  it('says for each backend whether its credentials depend on the caller', async () => {
    const authorizers = await prepared();
    expect(authorizers.perCaller).toBe(true);
    expect(['own', 'other', 'listed'].map((name) => authorizers.of(name).perCaller === true)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('sends nothing to a backend whose header clients may set too', async () => {
    const authorizers = await prepared(['X-Fixed']);
    await expect(headersTo('other', authorizers.of('other'))).rejects.toThrow(
      'passthroughHeaders: x-fixed is set by outgoingAuth of other and cannot be passed through',
    );
    expect(await headersTo('own', authorizers.of('own'))).toEqual({ authorization: 'set' });
  });
});
