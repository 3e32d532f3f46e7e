import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Plugin } from '../../../../core/extension/plugin.ts';
import { oidcConfig } from '../../../../plugins/incoming-auth/oidc/config.ts';
import { contract } from '../../../../plugins/incoming-auth/oidc/contract.ts';
import { identityProvider } from '../../../support/identity-provider.ts';
import { AUDIENCE, type OidcGiven, oidcGateway } from '../../../support/oidc-gateway.ts';
import { openSession, postModern } from '../../../support/open-endpoint.ts';
import { proves } from '../../../support/proves.ts';

const WELL_KNOWN = 'https://gateway.example/.well-known/oauth-protected-resource/mcp';
const WRITE: OidcGiven = { toolScopes: { echo: ['tools:write'] } };

const challenge = (scope: string): string =>
  `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${WELL_KNOWN}"`;

/** Status and challenge of a call of `echo` with a token that has these claims. */
async function callWith(config: OidcGiven, claims: object, more: readonly Plugin[] = []) {
  await using idp = await identityProvider();
  await using gateway = await oidcGateway(idp, config, more);
  const reply = await gateway.ask(`Bearer ${idp.sign({ sub: 'ada', aud: AUDIENCE, ...claims })}`);
  return [reply.status, reply.headers.get('www-authenticate')];
}

describe('a tool that needs scopes', () => {
  proves(
    'choice.oidc.tool-scopes',
    'is refused to a token without them in both eras, with a challenge that names them, and stays listed',
    async () => {
      await using idp = await identityProvider();
      await using gateway = await oidcGateway(idp, WRITE);
      const headers = { authorization: `Bearer ${idp.sign({ sub: 'ada', aud: AUDIENCE, scope: 'openid email' })}` };
      const session = await openSession(gateway.url, { headers });
      for (const reply of [
        await gateway.ask(headers.authorization),
        await session.request('tools/call', { name: 'echo', arguments: {} }),
      ]) {
        expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, challenge('openid tools:write')]);
        expect(reply.json.error?.message).toBe('the tool needs a token with the scope tools:write');
      }
      const listed = await postModern(gateway.url, 'tools/list', {}, { headers });
      expect(listed.json.result).toMatchObject({ tools: [{ name: 'echo' }] });
    },
  );

  proves(
    'choice.oidc.tool-scopes',
    'is called with a token that has all of them, in any form of the claim',
    async () => {
      const config = { toolScopes: { echo: ['a'], 'ec*': ['b'], '*': ['c'], 'x*o': ['never'] } };
      for (const claims of [
        { scope: 'c b a' },
        { scp: ['a', 'b', 'c'] },
        { scp: 'a c b' },
        { scope: 'a', scp: ['b', 'c'] },
      ]) {
        expect(await callWith(config, claims)).toEqual([200, null]);
      }
      for (const claims of [{}, { scope: 'a b' }, { scope: 'a b cc' }, { scope: { c: true } }, { scp: [['a b c']] }]) {
        const [status, header] = await callWith(config, claims);
        expect([status, header]).toEqual([403, challenge('a b c')]);
      }
    },
  );

  it('is refused by a policy first, whose challenge asks for no other token', async () => {
    const denying: Plugin = {
      address: 'test/denying',
      config: z.strictObject({}),
      apply: ({ hooks }) =>
        hooks.authorize.tap('test/denying', () => ({ refused: true, status: 403, reason: 'denied by policy' })),
    };
    const [status, header] = await callWith(WRITE, {}, [denying]);
    expect([status, header]).toEqual([403, `Bearer resource_metadata="${WELL_KNOWN}", scope="openid"`]);
  });

  proves('choice.oidc.tool-scopes', 'is refused to the calls that a tool makes for the caller as well', async () => {
    const reasons: unknown[] = [];
    const wrapping: Plugin = {
      address: 'test/wrapping',
      config: z.strictObject({}),
      apply: ({ hooks, perform }) =>
        hooks.wrapDispatch.tap('test/wrapping', (next) => async (call) => {
          if (call.parent !== undefined || call.name !== 'echo') return next(call);
          const reply = await perform({ parent: call, name: 'guarded', arguments: {} });
          reasons.push('refusal' in reply ? reply.refusal.reason : reply);
          return next(call);
        }),
    };
    expect(await callWith({ toolScopes: { 'guard*': ['tools:write'] } }, {}, [wrapping])).toEqual([200, null]);
    expect(reasons).toEqual(['the tool needs a token with the scope tools:write']);
  });

  proves('choice.oidc.tool-scopes', 'has its scopes in the metadata, but a sign-in is not asked for them', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp, WRITE);
    const metadata = await fetch(new URL('/.well-known/oauth-protected-resource', gateway.url));
    expect(await metadata.json()).toMatchObject({ scopes_supported: ['openid', 'tools:write'] });
    const told = (await gateway.ask()).headers.get('www-authenticate');
    expect(told).toBe(`Bearer resource_metadata="${WELL_KNOWN}", scope="openid"`);
    const section = { issuer: idp.issuer, audience: AUDIENCE, ...WRITE };
    expect(contract.facts?.(section)).toMatchObject({ tokens: { scopes: ['openid', 'tools:write'] } });
  });

  it('is named once, with scopes that can be sent in a header', () => {
    const least = { issuer: 'https://id.example', clientId: 'gw', audience: 'api' };
    const isValid = (toolScopes: object): boolean => oidcConfig.safeParse({ ...least, toolScopes }).success;
    expect([isValid({ a: ['b'] }), isValid({ 'a*b': ['c'] }), isValid({})]).toEqual([true, true, true]);
    for (const wrong of [{ '': ['b'] }, { 'a*b*': ['c'] }, { a: [] }, { a: ['b c'] }, { a: ['b"'] }, { a: 'b' }]) {
      expect([wrong, isValid(wrong)]).toEqual([wrong, false]);
    }
  });
});
