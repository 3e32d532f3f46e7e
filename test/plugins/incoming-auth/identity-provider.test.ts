import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { CLIENTS, identityProvider } from '../../support/identity-provider.ts';

const AUDIENCE = 'https://gateway.example/mcp';
const OPAQUE = 'https://opaque.example/mcp';

describe('the identity provider of tests', () => {
  it('issues JWTs of users and programs that its published keys verify', async () => {
    await using idp = await identityProvider();
    const published = createLocalJWKSet((await (await fetch(`${idp.issuer}/jwks`)).json()) as JSONWebKeySet);
    const rules = { issuer: idp.issuer, audience: AUDIENCE };
    const ada = await jwtVerify(await idp.userToken('ada', AUDIENCE), published, rules);
    expect(ada.payload).toMatchObject({ sub: 'ada', groups: ['admins'], client_id: 'app', scope: 'tools' });
    expect(ada.protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const agent = await jwtVerify(await idp.agentToken(AUDIENCE), published, rules);
    expect(agent.payload.sub).toBe('agent');
    await jwtVerify(idp.sign({ sub: 'x', aud: AUDIENCE }), published, rules);
  });

  it('issues opaque tokens that its introspection knows, until they are revoked', async () => {
    await using idp = await identityProvider({ opaqueAudiences: [OPAQUE] });
    const token = await idp.userToken('bob', OPAQUE);
    expect(token).not.toContain('.');
    const ask = async () => {
      const { id, secret } = CLIENTS.gateway;
      const answer = await fetch(`${idp.issuer}/token/introspection`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
        body: new URLSearchParams({ token }),
      });
      return answer.json();
    };
    expect(await ask()).toMatchObject({ active: true, sub: 'bob', aud: OPAQUE, groups: ['staff'] });
    idp.revokeAll();
    expect(await ask()).toEqual({ active: false });
  });

  it('rotates its keys, and can be away', async () => {
    await using idp = await identityProvider({ alg: 'RS256' });
    const before = decodeProtectedHeader(await idp.agentToken(AUDIENCE)).kid;
    idp.rotate();
    const after = decodeProtectedHeader(await idp.agentToken(AUDIENCE)).kid;
    expect(after).not.toBe(before);
    const kids = async () =>
      ((await (await fetch(`${idp.issuer}/jwks`)).json()) as JSONWebKeySet).keys.map(({ kid }) => kid);
    expect(await kids()).toEqual(expect.arrayContaining([before, after]));
    idp.rotate(false);
    expect(await kids()).not.toContain(before);
    await idp.pause();
    await expect(fetch(`${idp.issuer}/jwks`)).rejects.toThrow();
    await idp.resume();
    expect(await kids()).toHaveLength(3);
  });
});
