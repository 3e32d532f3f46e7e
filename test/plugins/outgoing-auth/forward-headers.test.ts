import { ANONYMOUS, type AuthContext, type BackendRequest } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { createForwardHeaders } from '../../../plugins/outgoing-auth/forward-headers/strategy.ts';
import { pluginCore } from '../../support/plugin-core.ts';

const PLACE = 'outgoingAuth.default';
const authContext: AuthContext = { caller: ANONYMOUS, purpose: 'call', signal: new AbortController().signal };

function strategy(environment: NodeJS.ProcessEnv = {}) {
  const { slots } = pluginCore(environment);
  const inner = {
    headerNames: ['x-team'],
    apply: async ({ headers }: BackendRequest) => void Object.assign(headers, { 'x-team': 'inner', 'x-inner': '1' }),
  };
  slots.authStrategies.register('inner', { prepare: async () => inner });
  return createForwardHeaders(slots);
}

describe('outgoing-auth/forward-headers', () => {
  it('sets its headers and its token after the other strategy, and overrides that one', async () => {
    const options = { headers: { 'X-Team': 'a' }, bearerTokenEnv: 'REMOTE_TOKEN', after: { type: 'inner' } };
    const authorizer = await strategy({ REMOTE_TOKEN: 's3cret' }).prepare(options, PLACE);
    const backend = { name: 'far', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' } as const;
    const request: BackendRequest = { backend, method: 'POST', url: backend.url, headers: {} };
    await authorizer.apply(request, authContext);
    expect(request.headers).toEqual({ 'x-team': 'a', 'x-inner': '1', authorization: 'Bearer s3cret' });
    expect(authorizer.headerNames).toEqual(['x-team', 'authorization']);
  });

  it.each([
    [{ headers: { Host: 'evil.example' } }, /headers/],
    [{ headers: { 'X-Team': 'a\r\nX-Admin: 1' } }, /headers/],
    [{ headers: { Authorization: 'Basic x' }, bearerTokenEnv: 'REMOTE_TOKEN' }, /which the bearer token sets/],
    [{ bearerTokenEnv: 'A', bearerTokenFile: '/b' }, /set only one/],
  ])('refuses %j at the start', async (options, reason) => {
    await expect(
      strategy({ REMOTE_TOKEN: 'x' }).prepare({ ...options, after: { type: 'inner' } }, PLACE),
    ).rejects.toThrow(reason);
  });

  it('names a variable that is missing and never shows a value that no header can carry', async () => {
    const options = { bearerTokenEnv: 'REMOTE_TOKEN', after: { type: 'inner' } };
    await expect(strategy().prepare(options, PLACE)).rejects.toThrow(/REMOTE_TOKEN/);
    const bad = strategy({ REMOTE_TOKEN: 's3cret\nline' }).prepare(options, PLACE);
    await expect(bad).rejects.toThrow(/REMOTE_TOKEN/);
    await expect(bad).rejects.not.toThrow(/s3cret/);
  });
});
