import { type Caller, definePlugin, GatewayFault, type JsonObject, UserActionRequired } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { type UpstreamTokens, upstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { proves } from '../../../support/proves.ts';
import { cedar, claimsFromHeader, claimsHeader } from './support.ts';

const POLICIES = [
  'permit(principal in THVGroup::"ops", action, resource);',
  'permit(principal == Client::"ada@corp", action, resource == Tool::"mine");',
  'permit(principal, action, resource == Tool::"mailed") when { principal has claim_email && principal.claim_email == "ada@mail" };',
];
const ISSUED = { sub: 'person-1', email: 'ada@mail', groups: ['ops'] };

/** A gateway with stub tokens of `corp` (the first) and `code`. */
async function gatewayWith(provider: string, read: (caller: Caller, provider: string) => JsonObject | Error) {
  const asked: string[] = [];
  const kept = new Map<string, JsonObject>();
  const tokenOf = (claims: JsonObject) => ({
    accessToken: { reveal: () => 'upstream-secret' },
    issuedMs: 0,
    expiresMs: undefined,
    claims,
  });
  const tokens: UpstreamTokens = {
    providers: ['corp', 'code'],
    primary: 'corp',
    isInjectionDisabled: false,
    known(caller, name) {
      const claims = kept.get(caller.key + name);
      return claims === undefined ? undefined : tokenOf(claims);
    },
    async obtain(caller, name) {
      asked.push(`${caller.subject} ${name}`);
      const claims = read(caller, name);
      if (claims instanceof Error) throw claims;
      kept.set(caller.key + name, claims);
      return tokenOf(claims);
    },
    refused: () => false,
    signInAgain: async () => new UserActionRequired('sign in again', 'https://gateway.example'),
  };
  const stub = definePlugin({
    address: 'test/upstream-tokens',
    config: z.strictObject({}),
    apply: ({ slot }) => slot(upstreamTokens).register('auth-server', tokens),
  });
  const kit = await testGateway({
    plugins: [claimsFromHeader, cedar, stub],
    backends: { far: fakeServer().tool('deploy').tool('mailed').tool('mine') },
    plan: {
      plugins: [
        { use: claimsFromHeader.address },
        { use: stub.address },
        { use: cedar.address, with: { policies: POLICIES, primaryUpstreamProvider: provider } },
      ],
    },
  });
  const client = (claims: JsonObject) => kit.client({ headers: claimsHeader(claims) });
  return {
    kit,
    asked,
    kept,
    tools: async (claims: JsonObject = ISSUED) => (await client(claims)).toolNames(),
    async call(name: string, claims: JsonObject = ISSUED) {
      const { status, error } = await (await client(claims)).request('tools/call', { name, arguments: {} });
      return error === undefined ? status : `${status} ${error.message}`;
    },
    [Symbol.asyncDispose]: kit[Symbol.asyncDispose],
  };
}

const DENIED = '403 call denied by authorization policy';

describe('claims of the primary upstream provider', () => {
  proves(
    ['vmcp.auth-server.primary-upstream-provider-claims', 'vmcp.config-incoming.authz-primary-upstream-provider'],
    'count instead of those of the issued token',
    async () => {
      const claims: Record<string, JsonObject> = {
        'person-1': { sub: 'ada@corp', groups: ['sales'] },
        'person-2': { sub: 'bo@corp', groups: ['ops'] },
      };
      await using at = await gatewayWith('code', ({ subject }) => claims[subject] ?? {});
      expect(await at.tools()).toEqual(['mine']);
      expect([await at.call('mine'), await at.call('deploy')]).toEqual([200, DENIED]);
      const bo = { sub: 'person-2', groups: ['sales'] };
      expect(await at.tools(bo)).toEqual(['deploy', 'mailed', 'mine']);
      expect(await at.call('deploy', bo)).toBe(200);
      expect(at.asked).toEqual(['person-1 code', 'person-2 code']); // then they are known
    },
  );

  it('follow a change of the upstream token in the next request', async () => {
    let groups = ['ops'];
    await using at = await gatewayWith('corp', () => ({ sub: 'x', groups }));
    expect(await at.call('deploy')).toBe(200);
    groups = [];
    at.kept.clear();
    expect(await at.call('deploy')).toBe(DENIED);
    expect(await at.tools()).toEqual(['mailed']);
  });

  it('have name and email of the issued token for the first provider only', async () => {
    await using first = await gatewayWith('corp', () => ({ sub: 'x' }));
    expect(await first.call('mailed')).toBe(200);
    await using second = await gatewayWith('code', () => ({ sub: 'x' }));
    expect(await second.call('mailed')).toBe(DENIED);
    await using own = await gatewayWith('corp', () => ({ sub: 'x', email: 'other@mail' }));
    expect(await own.call('mailed')).toBe(DENIED);
  });
});

describe('claims that cannot be read', () => {
  it.each([
    ['the token was delegated', new GatewayFault('AUTH_STRATEGY_REFUSED', 'this token has no claim tsid')],
    ['an unexpected error', new Error('boom')],
  ])('deny calls and empty lists: %s', async (_what, fault) => {
    await using at = await gatewayWith('corp', () => fault);
    expect(await at.tools()).toEqual([]);
    expect(await at.call('deploy')).toBe(DENIED);
    expect(await at.call('mine')).not.toBe(200);
  });

  const LINK = 'https://gw.test/c?ticket=1';
  const ended = () => new UserActionRequired('sign in at corp again', LINK);
  const URL_MODE = { elicitation: { url: {} } };

  proves(
    'vmcp.auth-server.primary-upstream-provider-ended',
    'because the session at the provider has ended lead the person there, by calls and by lists of names that exist or not',
    async () => {
      await using at = await gatewayWith('corp', ended);
      const client = (more: object) => at.kit.client({ headers: claimsHeader(ISSUED), ...more });
      const requests = [
        ['tools/call', { name: 'deploy', arguments: {} }],
        ['tools/call', { name: 'unknown', arguments: {} }],
        ['tools/list', {}],
        ['resources/list', {}],
      ] as const;
      const legacy = await client({ era: '2025-11-25', capabilities: URL_MODE });
      for (const [method, params] of requests) {
        expect((await legacy.request(method, params)).error).toMatchObject({
          code: -32042,
          message: 'sign in at corp again',
          data: { elicitations: [{ mode: 'url', url: LINK }] },
        });
      }
      const modern = await client({ era: '2026-07-28', capabilities: URL_MODE });
      for (const [method, params] of requests) {
        const { result, error } = await modern.request(method, params);
        if (method === 'tools/call') expect(result).toMatchObject({ resultType: 'input_required' });
        else expect(error?.message).toContain(`Open this link in a browser, then repeat the call: ${LINK}`);
      }
      for (const era of ['2025-11-25', '2026-07-28']) {
        const plain = await client({ era });
        for (const [method, params] of requests) {
          expect(JSON.stringify(await plain.request(method, params))).toContain(LINK);
        }
      }
    },
  );

  it('are read again after the person has signed in: the same call is then made', async () => {
    let isEnded = true;
    await using at = await gatewayWith('corp', () => (isEnded ? ended() : { sub: 'x', groups: ['ops'] }));
    const client = await at.kit.client({
      era: '2026-07-28',
      capabilities: URL_MODE,
      headers: claimsHeader(ISSUED),
    });
    const { result } = await client.request('tools/call', { name: 'deploy', arguments: {} });
    isEnded = false;
    const retry = {
      name: 'deploy',
      arguments: {},
      requestState: result?.requestState ?? '',
      inputResponses: { 'toolmgr.link': { action: 'accept' } },
    };
    expect((await client.request('tools/call', retry)).result).toMatchObject({ resultType: 'complete' });
    expect(await client.toolNames()).toEqual(['deploy', 'mailed', 'mine']);
    isEnded = true;
    at.kept.clear();
    const again = await client.request('tools/call', { name: 'deploy', arguments: {} });
    const declined = {
      ...retry,
      requestState: again.result?.requestState ?? '',
      inputResponses: { 'toolmgr.link': { action: 'decline' } },
    };
    expect(JSON.stringify(await client.request('tools/call', declined))).toContain('the link was not opened');
  });

  it('for a moment only are 503 for a call, and an error for a list', async () => {
    await using at = await gatewayWith('corp', () => new GatewayFault('STORE_UNAVAILABLE', 'no store'));
    expect(await at.call('deploy')).toMatch(/^503 the claims for authorization cannot be read now/);
    await expect(at.tools()).rejects.toThrow('the list could not be built');
  });
});

describe('the name of the provider', () => {
  proves('vmcp.auth-server.primary-upstream-provider-unresolvable', 'is checked at the start', async () => {
    await expect(gatewayWith('corb', () => ({}))).rejects.toThrow(
      'authorization/cedar: primaryUpstreamProvider: no upstream provider is named "corb", did you mean "corp"?',
    );
    const plan = {
      plugins: [{ use: cedar.address, with: { policies: POLICIES, primaryUpstreamProvider: 'corp' } }],
    };
    await expect(testGateway({ plugins: [cedar], plan })).rejects.toThrow(
      '"corp" is a provider of the authorization server, and there is none; add authServerConfig',
    );
  });
});
