import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { authServerRig, claimsOf, headerOf } from '../../../support/auth-server-rig.ts';
import { base64url } from '../../../support/identity-provider.ts';
import { proves } from '../../../support/proves.ts';

describe('the token endpoint', () => {
  proves('choice.oauth.audience', 'swaps no resource between the authorization and the token request', async () => {
    const second = 'https://second.example/mcp';
    await using rig = await authServerRig({ config: { allowedAudiences: ['https://first.example/mcp', second] } });
    const attempt = rig.begin(await rig.register(), { resource: 'https://first.example/mcp' });
    const code = (await attempt.finish()).get('code') ?? '';
    expect((await attempt.exchange(code, { resource: second })).body.error).toBe('invalid_target');
    const again = rig.begin(await rig.register(), { resource: second });
    const { body } = await again.exchange((await again.finish()).get('code') ?? '');
    expect(claimsOf(body.access_token ?? '').aud).toBe(second);
    const both = rig.begin(await rig.register(), { resource: undefined });
    expect((await both.browser.get(both.url)).headers.get('location')).toContain('error=invalid_target');
  });

  proves('choice.oauth.signed', 'takes a refresh token only from its client, and none of another server', async () => {
    await using rig = await authServerRig();
    await using other = await authServerRig();
    const { clientId, refresh } = await rig.tokens();
    const stranger = await rig.register();
    const ask = (client_id: string, refresh_token: string) =>
      rig.token({ grant_type: 'refresh_token', client_id, refresh_token });
    expect((await ask(stranger, refresh)).body.error).toBe('invalid_grant');
    expect((await ask(clientId, (await other.tokens()).refresh)).body.error).toBe('invalid_grant');
    const [tsid = '', number = '', mac = ''] = refresh.split('~');
    for (const forged of [
      `${tsid}~${Number(number) + 1}~${mac}`,
      `${tsid}~0${number}~${mac}`,
      `${tsid}~${number}~`,
      `${refresh}=`,
    ]) {
      expect((await ask(clientId, forged)).body.error, forged).toBe('invalid_grant');
    }
    const key = createHmac('sha256', '').update(`${tsid}~${number}`).digest('base64url');
    expect((await ask(clientId, `${tsid}~${number}~${key}`)).body.error).toBe('invalid_grant');
    expect((await ask(clientId, refresh)).status).toBe(200);
  });

  it('refuses large bodies with 413, other content types and unknown grants', async () => {
    await using rig = await authServerRig();
    const send = async (path: string, body: string, type = 'application/x-www-form-urlencoded') => {
      const answer = await fetch(`${rig.http.origin}${path}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      return `${answer.status} ${((await answer.json()) as { error?: string }).error}`;
    };
    for (const path of ['/oauth/token', '/oauth/revoke']) {
      expect(await send(path, `a=${'b'.repeat(64 * 1024)}`), path).toBe('413 invalid_request');
    }
    expect(await send('/oauth/register', `{"a":"${'b'.repeat(64 * 1024)}"}`, 'application/json')).toMatch(/^413 /);
    expect(await send('/oauth/token', '{}', 'application/json')).toBe('400 invalid_request');
    const client = await rig.register();
    for (const grant of [
      'password',
      'client_credentials',
      'implicit',
      'urn:ietf:params:oauth:grant-type:device_code',
    ]) {
      expect(await send('/oauth/token', `grant_type=${grant}&client_id=${client}`), grant).toMatch(
        /^400 (unsupported_grant_type|invalid_request)$/,
      );
    }
  });

  it('has no other endpoint of the library', async () => {
    await using rig = await authServerRig();
    for (const path of [
      '/oauth/me',
      '/oauth/userinfo',
      '/oauth/introspect',
      '/oauth/request',
      '/oauth/device',
      '/session/end',
      '/oauth/session/end',
      '/session/end/confirm',
      '/interaction/x',
      '/me',
      '/jwks',
      '/request',
      '/token',
    ]) {
      for (const method of ['GET', 'POST']) {
        expect((await fetch(`${rig.http.origin}${path}`, { method })).status, `${method} ${path}`).toBe(404);
      }
    }
    expect((await fetch(`${rig.http.origin}/oauth/token`)).status).toBe(405);
    expect((await fetch(`${rig.http.origin}/oauth/authorize`, { method: 'POST' })).status).toBe(405);
  });

  proves(
    'choice.oauth.limits',
    'limits a network with 429 and Retry-After, and counts an IPv6 /64 as one',
    async () => {
      await using rig = await authServerRig();
      const answers = await Promise.all(
        Array.from({ length: 400 }, () => fetch(`${rig.http.origin}/oauth/token`, { method: 'POST' })),
      );
      const refused = answers.find(({ status }) => status === 429);
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      // other kinds of endpoints are not used up
      expect((await fetch(`${rig.http.origin}/.well-known/jwks.json`)).status).toBe(200);
      rig.http.clock.aheadMs = 60_000;
      expect((await fetch(`${rig.http.origin}/oauth/token`, { method: 'POST' })).status).toBe(400);
    },
  );
});

describe('secrets', () => {
  it('are in no log, error, page or record', async () => {
    await using rig = await authServerRig();
    const { clientId, refresh, access } = await rig.tokens();
    const attempt = rig.begin(clientId);
    const code = (await attempt.finish()).get('code') ?? '';
    const answers = [
      await attempt.exchange(code, { code_verifier: 'CANARY-verifier-that-is-wrong-but-long-enough-for-it' }),
      await rig.token({ grant_type: 'refresh_token', client_id: 'CANARY-client', refresh_token: refresh }),
      await rig.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: `${refresh}CANARY` }),
      await rig.token({
        grant_type: 'authorization_code',
        client_id: clientId,
        code: 'CANARY-code',
        code_verifier: 'x',
        redirect_uri: 'CANARY',
      }),
      await rig.post('/oauth/revoke', { token: access, client_id: clientId }),
    ];
    const shown = JSON.stringify([answers.map(({ text }) => text), rig.http.logged]);
    for (const secret of ['CANARY', code, refresh, access, attempt.verifier]) expect(shown).not.toContain(secret);
    expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(Array(5).fill('no-store'));
  });
});

describe('access tokens', () => {
  it('of another gateway have another issuer and another key', async () => {
    await using rig = await authServerRig();
    await using other = await authServerRig();
    const [mine, theirs] = [await rig.tokens(), await other.tokens()];
    expect(headerOf(mine.access).kid).not.toBe(headerOf(theirs.access).kid);
    expect(mine.claims.iss).not.toBe(theirs.claims.iss);
    const keys = await rig.server.issuer.keys();
    expect(keys.some(({ kid }) => kid === headerOf(theirs.access).kid)).toBe(false);
    expect(base64url(headerOf(mine.access))).not.toContain('jku');
  });
});
