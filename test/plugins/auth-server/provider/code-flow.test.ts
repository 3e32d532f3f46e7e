import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { authServerRig, claimsOf, headerOf, REDIRECT } from '../../../support/auth-server-rig.ts';
import { proves } from '../../../support/proves.ts';

describe('the authorization code flow', () => {
  it('issues an access token as RFC 9068 says, and a refresh token that rotates', async () => {
    await using rig = await authServerRig();
    const client = await rig.register();
    const attempt = rig.begin(client);
    const callback = await attempt.finish();
    expect(callback.get('state')).toBe('state-of-client');
    expect(callback.get('iss')).toBe(rig.issuer); // RFC 9207
    const { status, headers, body } = await attempt.exchange(callback.get('code') ?? '');
    expect({ status, body }).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } });
    expect(headers.get('cache-control')).toBe('no-store');

    const token = body.access_token ?? '';
    expect(headerOf(token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    const claims = claimsOf(token);
    expect(claims).toMatchObject({
      iss: rig.issuer,
      aud: rig.audience,
      client_id: client,
      name: 'Ada',
      email: 'ada@example.com',
    });
    expect(claims.sub).toMatch(/^[0-9a-f-]{36}$/);
    expect(claims.scope).toBe('openid profile email offline_access');
    expect(claims.scp).toEqual(['openid', 'profile', 'email', 'offline_access']);
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3600);
    for (const name of ['jti', 'tsid']) expect(claims[name]).toEqual(expect.any(String));

    const { keys } = (await (await fetch(`${rig.issuer}/.well-known/jwks.json`)).json()) as { keys: JsonWebKey[] };
    const [head, payload, signature = ''] = token.split('.');
    const key = createPublicKey({ key: keys[0] as JsonWebKey, format: 'jwk' });
    const signed = Buffer.from(`${head}.${payload}`);
    expect(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))).toBe(
      true,
    );

    const again = await rig.token({
      grant_type: 'refresh_token',
      client_id: client,
      refresh_token: body.refresh_token ?? '',
    });
    expect(again.status).toBe(200);
    expect(again.body.refresh_token).not.toBe(body.refresh_token);
    expect(claimsOf(again.body.access_token ?? '')).toMatchObject({
      sub: claims.sub,
      tsid: claims.tsid,
      scope: claims.scope,
    });
  });

  proves('choice.oauth.id-token', 'issues an ID token for the scope openid, and none without it', async () => {
    await using rig = await authServerRig();
    const clientId = await rig.register();
    const attempt = rig.begin(clientId, { scope: 'openid profile email', nonce: 'of-the-client' });
    const { body } = await attempt.exchange((await attempt.finish()).get('code') ?? '');
    const token = body.id_token ?? '';
    const { keys } = (await (await fetch(`${rig.issuer}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet({ keys }), {
      issuer: rig.issuer,
      audience: clientId,
    });
    expect(protectedHeader.typ).not.toBe('at+jwt');
    expect(payload).toMatchObject({
      sub: claimsOf(body.access_token ?? '').sub,
      nonce: 'of-the-client',
      name: 'Ada',
      email: 'ada@example.com',
    });
    const plain = rig.begin(clientId, { scope: 'profile' });
    expect((await plain.exchange((await plain.finish()).get('code') ?? '')).body).not.toHaveProperty('id_token');
  });

  proves('choice.oauth.code-once', 'takes a code once, and ends its session when it is used again', async () => {
    await using rig = await authServerRig();
    const attempt = rig.begin(await rig.register());
    const code = (await attempt.finish()).get('code') ?? '';
    const first = await attempt.exchange(code);
    expect(first.status).toBe(200);
    const claims = claimsOf(first.body.access_token ?? '');
    expect(await rig.server.issuer.isWithdrawn(claims)).toBe(false);
    expect((await attempt.exchange(code)).body.error).toBe('invalid_grant');
    expect(await rig.server.issuer.isWithdrawn(claims)).toBe(true);
    const { refresh_token: token = '' } = first.body;
    const refreshed = await rig.token({
      grant_type: 'refresh_token',
      client_id: String(claims.client_id),
      refresh_token: token,
    });
    expect(refreshed.body.error).toBe('invalid_grant');
  });

  it('signs a known browser in without the login, and asks for consent again', async () => {
    await using rig = await authServerRig();
    const first = rig.begin(await rig.register());
    await first.finish();
    const second = rig.begin(await rig.register());
    for (const [key, value] of first.browser.cookies) second.browser.cookies.set(key, value);
    rig.loginAs = 'eve'; // has no effect: the browser is signed in
    const one = await first.exchange(''); // unused
    expect(one.status).toBe(400);
    const code = (await second.finish()).get('code') ?? '';
    const { body } = await second.exchange(code);
    expect(claimsOf(body.access_token ?? '').name).toBe('Ada');
  });

  it('serves an issuer with a path below it and at the root', async () => {
    await using rig = await authServerRig({ issuerPath: '/team' });
    const { claims } = await rig.tokens();
    expect(claims.iss).toBe(`${rig.http.origin}/team`);
    const { issuer } = rig;
    for (const path of [
      '/.well-known/oauth-authorization-server/team',
      '/team/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration/team',
      '/team/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
    ]) {
      const answer = await fetch(`${rig.http.origin}${path}`);
      expect(await answer.json(), path).toMatchObject({
        issuer,
        authorization_endpoint: `${issuer}/oauth/authorize`,
        token_endpoint: `${issuer}/oauth/token`,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
      });
    }
    expect(REDIRECT).toContain('127.0.0.1');
  });
});
