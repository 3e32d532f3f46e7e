import type { CallRecord, Plugin } from '@toolmgr/core';
import { oidcConfig } from '@toolmgr/plugins/incoming-auth/oidc';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { contract } from '../../../../plugins/incoming-auth/oidc/contract.ts';
import { identityProvider } from '../../../support/identity-provider.ts';
import { AUDIENCE, echoServer, type OidcGiven, oidcGateway } from '../../../support/oidc-gateway.ts';
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

const guardedServer = () => echoServer().tool('guarded', 'done');

/** Keeps the records of all calls. */
const recording = (records: CallRecord[]): Plugin => ({
  address: 'test/recording',
  config: z.strictObject({}),
  apply: ({ hooks }) => hooks.callSettled.tap('test/recording', (record) => void records.push(record)),
});

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

  const SCOPED = { toolScopes: { guarded: ['tools:write'], 'safe*': ['tools:read'] } };
  const CLAIMS = { sub: 'ada', aud: AUDIENCE, scope: 'openid tools:read' };

  proves(
    'choice.oidc.tool-scopes-inside',
    'is refused with its challenge when call_tool was to call it, and recorded as refused',
    async () => {
      await using idp = await identityProvider();
      const records: CallRecord[] = [];
      await using gateway = await oidcGateway(
        idp,
        SCOPED,
        ['optimizer/search', 'optimizer/tools', recording(records)],
        guardedServer(),
      );
      const headers = { authorization: `Bearer ${idp.sign(CLAIMS)}` };
      const session = await openSession(gateway.url, { headers });
      const asked = (tool: string) =>
        session.request('tools/call', { name: 'call_tool', arguments: { tool_name: tool, parameters: {} } });
      const reply = await asked('guarded');
      const wanted = challenge('openid tools:write tools:read');
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, wanted]);
      expect(reply.json.error?.message).toBe('the tool needs a token with the scope tools:write');
      expect(records.map(({ call, outcome }) => [call.name, outcome])).toEqual([
        ['guarded', 'refused'],
        ['call_tool', 'refused'],
      ]);
      const free = await asked('echo');
      expect([free.status, free.json.result]).toMatchObject([200, { content: [{ text: 'here' }] }]);
    },
  );

  proves(
    'choice.oidc.tool-scopes-inside',
    'is refused with its challenge when a script failed on it before any other call of the script was made',
    async () => {
      await using idp = await identityProvider();
      await using gateway = await oidcGateway(
        idp,
        SCOPED,
        ['code-mode/quickjs', 'code-mode/execute-script'],
        guardedServer(),
      );
      const headers = { authorization: `Bearer ${idp.sign(CLAIMS)}` };
      const run = async (script: string) => {
        const asked = { name: 'execute_tool_script', arguments: { script } };
        const reply = await postModern(gateway.url, 'tools/call', asked, { headers });
        return {
          status: reply.status,
          header: reply.headers.get('www-authenticate'),
          text: JSON.stringify(reply.json),
        };
      };
      const refused = { status: 403, header: challenge('openid tools:write tools:read') };
      expect(await run("return await callTool('guarded')")).toMatchObject(refused);
      // a client repeats a refused call, and would repeat what the script has done
      const late = await run("await callTool('echo'); return await callTool('guarded')");
      expect(late).toMatchObject({ status: 200, header: null });
      expect(late.text).toContain('the tool needs a token with the scope tools:write');
      const caught = await run("try { return await callTool('guarded') } catch { return 'without' }");
      expect(caught).toMatchObject({ status: 200, text: expect.stringContaining('without') });
      const other = await run("try { await callTool('guarded') } catch {} throw new Error('of its own')");
      expect(other).toMatchObject({ status: 200, text: expect.stringContaining('of its own') });
    },
  );

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
