import type { Plugin } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { identityProvider } from '../../../support/identity-provider.ts';
import { AUDIENCE, oidcGateway } from '../../../support/oidc-gateway.ts';
import { openSession, rawRequest } from '../../../support/open-endpoint.ts';
import { proves } from '../../../support/proves.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Says no to every call, as a policy would. */
const denying: Plugin = {
  address: 'test/denying',
  config: z.strictObject({}),
  apply: ({ hooks }) =>
    hooks.authorize.tap('test/denying', () => ({ refused: true, status: 403, reason: 'denied by policy' })),
};

describe('the metadata of the protected resource', () => {
  proves(
    ['choice.oidc.metadata', 'vmcp.config-incoming.oidc-scopes', 'vmcp.config-incoming.oidc-resource'],
    'is served on both path forms, names the provider, and defaults to the audience as resource',
    async () => {
      await using idp = await identityProvider();
      await using gateway = await oidcGateway(idp, { scopes: ['tools:read', 'tools:call'] });
      for (const path of [WELL_KNOWN, `${WELL_KNOWN}/mcp`]) {
        const answer = await fetch(new URL(path, gateway.url), { headers: { origin: 'https://app.example' } });
        expect(answer.headers.get('access-control-allow-origin')).toBe('*'); // as that of the authorization server
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
        expect(await answer.json()).toEqual({
          resource: AUDIENCE,
          authorization_servers: [idp.issuer],
          bearer_methods_supported: ['header'],
          scopes_supported: ['tools:read', 'tools:call'],
        });
      }
    },
  );

  proves(
    'vmcp.config-incoming.oidc-resource',
    'names the resource of the configuration, also under its own path',
    async () => {
      await using idp = await identityProvider();
      const resource = 'https://gateway.example/teams/a/mcp';
      await using gateway = await oidcGateway(idp, { resource, audience: 'tools-api' });
      for (const path of [WELL_KNOWN, `${WELL_KNOWN}/mcp`, `${WELL_KNOWN}/teams/a/mcp`]) {
        expect(await (await fetch(new URL(path, gateway.url))).json()).toMatchObject({
          resource,
          scopes_supported: ['openid'],
        });
      }
      const told = (await gateway.ask()).headers.get('www-authenticate');
      expect(told).toBe(`Bearer resource_metadata="https://gateway.example${WELL_KNOWN}/teams/a/mcp", scope="openid"`);
    },
  );

  it('uses the address that the client used when the audience is not a URL', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp, { audience: 'tools-api' });
    const { origin } = new URL(gateway.url);
    expect(await (await fetch(`${origin}${WELL_KNOWN}`)).json()).toMatchObject({ resource: gateway.url });
    const told = (await gateway.ask()).headers.get('www-authenticate');
    expect(told).toContain(`resource_metadata="${origin}${WELL_KNOWN}/mcp"`);
  });

  it('answers GET and HEAD only', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const url = new URL(WELL_KNOWN, gateway.url).href;
    expect((await rawRequest(url, 'HEAD', {})).status).toBe(200);
    expect((await rawRequest(url, 'POST', {})).status).toBe(405);
  });
});

describe('a challenge', () => {
  proves('choice.oidc.challenge', 'has no error code without a token, and one with a bad token', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const pointer = `Bearer resource_metadata="https://gateway.example${WELL_KNOWN}/mcp", scope="openid"`;
    const missing = await gateway.ask();
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, pointer]);
    expect(missing.json.error).toEqual({ code: 401, message: 'authentication is required' });
    const expired = await gateway.ask(`Bearer ${idp.sign({ sub: 'ada', aud: AUDIENCE, exp: 1 })}`);
    expect(expired.headers.get('www-authenticate')).toBe(
      `${pointer}, error="invalid_token", error_description="the token has expired"`,
    );
  });

  proves('choice.oidc.challenge', 'comes with a 403 of policy as well, in both eras', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp, {}, [denying]);
    const authorization = `Bearer ${idp.sign({ sub: 'ada', aud: AUDIENCE })}`;
    const session = await openSession(gateway.url, { headers: { authorization } });
    for (const reply of [
      await gateway.ask(authorization),
      await session.request('tools/call', { name: 'echo', arguments: {} }),
    ]) {
      expect([reply.status, reply.json.error?.message]).toEqual([403, 'denied by policy']);
      expect(reply.headers.get('www-authenticate')).toBe(
        `Bearer resource_metadata="https://gateway.example${WELL_KNOWN}/mcp", scope="openid"`,
      );
    }
  });

  proves('choice.error.insufficient-scope', 'is the policy’s own when it asks for more scopes', async () => {
    const stepUp = 'Bearer error="insufficient_scope", scope="tools:write"';
    const demanding: Plugin = {
      address: 'test/demanding',
      config: z.strictObject({}),
      apply: ({ hooks }) =>
        hooks.authorize.tap('test/demanding', () => ({
          refused: true,
          status: 403,
          reason: 'tools:write is needed',
          headers: { 'www-authenticate': stepUp },
        })),
    };
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp, {}, [demanding]);
    const reply = await gateway.ask(`Bearer ${idp.sign({ sub: 'ada', aud: AUDIENCE })}`);
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, stepUp]);
  });

  it('contains nothing that a client put into its Host header', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp, { audience: 'tools-api' });
    for (const host of ['evil", error="x', 'a/../b', 'evil.example']) {
      const reply = await rawRequest(gateway.url, 'POST', { host, 'content-type': 'application/json' }, '{}');
      expect([host, reply.status]).toEqual([host, 403]); // a loopback gateway has loopback names only
    }
  });
});
