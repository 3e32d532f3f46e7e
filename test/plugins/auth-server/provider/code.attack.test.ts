import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type AuthServerRig, authServerRig, REDIRECT } from '../../../support/auth-server-rig.ts';
import { proves } from '../../../support/proves.ts';

/** What a client or the browser gets for an authorization request: the error sent to the client, or the status of a page. */
async function outcome(rig: AuthServerRig, more: Readonly<Record<string, string | undefined>>, clientId?: string) {
  const { url, browser } = rig.begin(clientId ?? (await rig.register()), more);
  const answer = await browser.get(url);
  const location = answer.headers.get('location') ?? '';
  if (location.startsWith(REDIRECT)) return new URLSearchParams(location.split(/[?#]/)[1]).get('error');
  return location === '' ? `page ${answer.status}` : new URL(location, url).pathname.replace(/[^/]+$/, '');
}

describe('an attacker with a code', () => {
  it('cannot inject it into the session of another browser: the verifier differs', async () => {
    await using rig = await authServerRig();
    const client = await rig.register();
    const victim = rig.begin(client);
    const stolen = (await victim.finish()).get('code') ?? '';
    const attacker = rig.begin(client);
    await attacker.finish();
    expect((await attacker.exchange(stolen)).body.error).toBe('invalid_grant');
    expect((await victim.exchange(stolen, { code_verifier: '' })).body.error).toBe('invalid_grant');
    const plain = createHash('sha256').update(victim.verifier).digest('base64url'); // the challenge itself
    expect((await victim.exchange(stolen, { code_verifier: plain })).body.error).toBe('invalid_grant');
    expect((await victim.exchange(stolen)).status).toBe(200); // the failed attempts did not use it up
  });

  it('cannot use it as another client, for another redirect, or changed by one character', async () => {
    await using rig = await authServerRig();
    const attempt = rig.begin(await rig.register());
    const code = (await attempt.finish()).get('code') ?? '';
    const other = await rig.register();
    expect((await attempt.exchange(code, { client_id: other })).body.error).toBe('invalid_grant');
    expect((await attempt.exchange(code, { redirect_uri: 'http://127.0.0.1:1/callback' })).body.error).toBe(
      'invalid_grant',
    );
    const otherFirst = code.startsWith('_') ? '-' : '_';
    for (const changed of [
      `${code}A`,
      code.slice(0, -1),
      `${otherFirst}${code.slice(1)}`,
      code.replace('~', '.'),
      '~',
      '',
    ]) {
      expect((await attempt.exchange(changed)).status, changed).toBe(400);
    }
    expect((await attempt.exchange(code)).status).toBe(200);
  });

  it('who replays it at the same time ends the session of all its tokens', async () => {
    await using rig = await authServerRig();
    const attempt = rig.begin(await rig.register());
    const code = (await attempt.finish()).get('code') ?? '';
    const answers = await Promise.all(Array.from({ length: 8 }, () => attempt.exchange(code)));
    const issued = answers.filter(({ status }) => status === 200);
    expect(issued.length).toBeLessThanOrEqual(1);
    for (const { body } of issued) {
      const refreshed = await rig.token({
        grant_type: 'refresh_token',
        client_id: new URL(attempt.url).searchParams.get('client_id') ?? '',
        refresh_token: body.refresh_token ?? '',
      });
      expect(refreshed.body.error).toBe('invalid_grant');
    }
  });
});

describe('an authorization request', () => {
  proves('choice.oauth.pkce', 'without PKCE, or with the plain method, is refused for every client', async () => {
    await using rig = await authServerRig();
    const none = { code_challenge: undefined, code_challenge_method: undefined };
    expect(await outcome(rig, none)).toBe('invalid_request');
    expect(await outcome(rig, { code_challenge_method: 'plain' })).toBe('invalid_request');
    expect(await outcome(rig, { code_challenge_method: undefined })).toBe('invalid_request');
    expect(await outcome(rig, { code_challenge: 'short' })).toBe('invalid_request');
  });

  it('never redirects to a URI that the client did not register', async () => {
    await using rig = await authServerRig();
    const client = await rig.register({ redirect_uris: [REDIRECT, 'https://app.example/cb'] });
    for (const uri of [
      'https://evil.example/cb',
      'https://app.example/cb/',
      'https://app.example/cb?x=1',
      'https://app.example/cb#x',
      'https://app.example.evil.example/cb',
      'https://app.example@evil.example/cb',
      'https://APP.example/cb/../cb',
      'https://app.example:8443/cb',
      'http://app.example/cb',
      'http://127.0.0.1:49152/callback/../other',
      'http://127.0.0.1:49152/callback?',
      'http://127.0.0.1.evil.example/callback',
      'http://user@127.0.0.1:49152/callback',
      'http://localhost:49152/callback',
      'javascript:alert(1)',
      '',
    ]) {
      const { url, browser } = rig.begin(client, { redirect_uri: uri });
      const answer = await browser.get(url);
      expect([answer.status, answer.headers.get('location')], uri).toEqual([400, null]);
    }
    expect(await outcome(rig, { redirect_uri: 'http://127.0.0.1:1234/callback' }, client)).toBe('/oauth/sign-in/'); // RFC 8252 §7.3
  });

  it('that fails leads to no other site by itself, also not without a prompt', async () => {
    await using rig = await authServerRig();
    const site = 'https://evil.example/cb';
    const client = await rig.register({ redirect_uris: [site, REDIRECT, 'cursor://callback'] });
    for (const [wrong, code] of [
      [{ scope: 'admin' }, 'invalid_scope'],
      [{ prompt: 'none' }, 'login_required'],
      [{ resource: 'https://other.example' }, 'invalid_target'],
      [{ code_challenge: undefined }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
    ] as const) {
      const { url, browser } = rig.begin(client, { ...wrong, redirect_uri: site });
      const answer = await browser.get(url);
      expect([answer.status, answer.headers.get('location')], code).toEqual([400, null]);
      const page = await answer.text();
      expect(page).not.toContain('http-equiv');
      expect(page).toContain(`Error code: ${code}.`);
      expect(page).toMatch(/href="https:\/\/evil\.example\/cb[?#]error=/);
    }
    for (const local of [REDIRECT, 'cursor://callback']) {
      const { url, browser } = rig.begin(client, { prompt: 'none', redirect_uri: local });
      expect((await browser.get(url)).headers.get('location')).toContain(`${local}?error=login_required`);
    }
  });

  it('with a parameter given twice is refused', async () => {
    await using rig = await authServerRig();
    const { url, browser } = rig.begin(await rig.register());
    for (const name of ['redirect_uri', 'client_id', 'state', 'code_challenge', 'scope']) {
      const value = new URL(url).searchParams.get(name) ?? 'openid';
      const answer = await browser.get(`${url}&${name}=${encodeURIComponent(value)}&${name}=other`);
      const location = answer.headers.get('location') ?? '';
      expect(location, name).not.toContain('/oauth/sign-in/');
      expect(location, name).not.toContain('code=');
    }
  });

  it('cannot be hidden in a request object, a request URI or a registration', async () => {
    await using rig = await authServerRig();
    expect(await outcome(rig, { request: 'eyJhbGciOiJub25lIn0.e30.' })).toBe('request_not_supported');
    expect(await outcome(rig, { request_uri: 'https://evil.example/request' })).toBe('request_uri_not_supported');
    expect(await outcome(rig, { registration: '{}' })).toBe('registration_not_supported');
  });

  proves('choice.oauth.query-only', 'gets its answer in the query only, never in a page with a script', async () => {
    await using rig = await authServerRig();
    for (const mode of ['form_post', 'fragment', 'web_message', 'jwt', 'form_post.jwt', 'query fragment']) {
      expect(await outcome(rig, { response_mode: mode }), mode).toBe('page 400');
      expect(await outcome(rig, { response_mode: mode, code_challenge: undefined }), mode).toBe('page 400');
    }
    expect(await outcome(rig, { response_mode: 'query' })).toBe('/oauth/sign-in/');
    for (const type of ['token', 'id_token', 'code id_token', 'none', 'code token']) {
      expect(await outcome(rig, { response_type: type }), type).toMatch(/unsupported_response_type|invalid_request/);
    }
  });

  proves('choice.oauth.audience', 'asks for registered scopes and one allowed resource', async () => {
    await using rig = await authServerRig();
    expect(await outcome(rig, { scope: 'openid admin' })).toBe('invalid_scope');
    expect(await outcome(rig, { scope: 'open"id' })).toBe('invalid_scope');
    for (const resource of ['https://other.example/mcp', `${rig.audience}/`, `${rig.audience}#x`, 'mcp']) {
      expect(await outcome(rig, { resource }), resource).toBe('invalid_target');
    }
    const { url, browser } = rig.begin(await rig.register());
    const two = await browser.get(`${url}&resource=https%3A%2F%2Fother.example`);
    expect(two.headers.get('location')).toContain('error=invalid_target');
    const narrow = await rig.register({ scope: 'openid' });
    expect(await outcome(rig, { scope: 'openid email' }, narrow)).toBe('invalid_scope');
  });

  it('of an unknown client gets a page, in which nothing of the request is repeated', async () => {
    await using rig = await authServerRig();
    const { url, browser } = rig.begin('<script>alert(1)</script>', { state: 'CANARY-state-of-request' });
    const answer = await browser.get(url);
    const page = await answer.text();
    expect(answer.status).toBe(400);
    expect(page).toContain('invalid_client');
    expect(page).not.toContain('alert(1)');
    expect(page).not.toContain('CANARY');
    expect(page).not.toMatch(/<script|oidc-provider/i);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('cannot be continued in another browser, nor with a forged cookie', async () => {
    await using rig = await authServerRig();
    const client = await rig.register();
    const victim = rig.begin(client);
    const page = (await victim.browser.get(victim.url)).headers.get('location') ?? '';
    const attacker = rig.begin(client);
    expect((await attacker.browser.get(page)).status).toBe(400);
    for (const [name, { value, path }] of victim.browser.cookies) {
      const forged = name.includes('.sig') ? value.replace(/^./, (first) => (first === 'a' ? 'b' : 'a')) : value;
      attacker.browser.cookies.set(name, { value: forged, path });
    }
    expect((await attacker.browser.get(page)).status).toBe(400);
    const resumed = await attacker.browser.get(page.replace('/oauth/sign-in/', '/oauth/authorize/'));
    expect(resumed.status).toBe(400);
    expect(await resumed.text()).toContain('This sign-in has ended');
  });
});

describe('the session of a browser', () => {
  it('has a cookie that other hosts of the domain cannot set', async () => {
    await using rig = await authServerRig({ config: { authorizationEndpointBaseUrl: 'https://login.example/base' } });
    const { interactions } = rig.server;
    const inbound = (cookie: string) => ({ method: 'GET', path: '/connections', headers: { cookie } }) as never;
    const { 'set-cookie': set = [] } = await interactions.signIn(inbound(''), 'person-of-the-test');
    for (const line of [set].flat()) {
      expect(line).toMatch(/^__Host-toolmgr_[0-9a-f]{8}_session(\.sig)?=/);
      expect(line.toLowerCase().split('; ').slice(1)).toEqual(expect.arrayContaining(['path=/', 'secure', 'httponly']));
      expect(line).not.toMatch(/domain=/i);
    }
    const cookie = [set].flat().map((line) => line.split(';')[0]);
    expect(await interactions.personOf(inbound(cookie.join('; ')))).toBe('person-of-the-test');
    expect(await interactions.personOf(inbound(cookie.join('; ').replaceAll('__Host-', '')))).toBeUndefined();
  });
});
