import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gateway } from '@toolmgr/core';
import { fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect } from 'vitest';
import { linesOf } from '../../support/audited.ts';
import { claimsOf, REDIRECT, TestBrowser } from '../../support/auth-server-rig.ts';
import { CLIENTS, identityProvider } from '../../support/identity-provider.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A gateway over HTTP at which people sign in with a real provider. */
async function signInGateway(idp: string, logFile: string) {
  let gateway: Gateway | undefined;
  const http = await loopbackServer((request, response) => gateway?.handle(request, response));
  const issuer = http.url;
  const audience = `${issuer}/mcp`;
  const kits: TestGateway[] = [];
  const far = fakeServer().tool('echo', () => ({ content: [{ type: 'text', text: 'here' }] }));
  const start = async (hmacFiles: readonly string[]): Promise<void> => {
    const upstream = {
      name: 'corp',
      type: 'oidc',
      allowPrivateAddresses: true,
      oidcConfig: { issuerUrl: idp, clientId: CLIENTS.app.id, redirectUri: `${issuer}/callback`, scopes: ['openid'] },
    };
    const server = {
      issuer,
      allowedAudiences: [audience],
      upstreamProviders: [upstream],
      hmacSecretRefs: hmacFiles.map((file) => ({ file })),
    };
    const before = kits.at(-1)?.gateway;
    const kit = await testGateway({
      catalogue,
      plan: {
        plugins: [
          { use: 'secrets/environment' },
          { use: 'auth-server', with: server },
          { use: 'incoming-auth/oidc', with: { issuer, clientId: 'gateway', audience } },
          { use: 'audit', with: { logFile } },
        ],
      },
      backends: { far },
      ...(before === undefined ? {} : { successorOf: before }),
    });
    kits.push(kit);
    gateway = kit.gateway;
    if (before === undefined) return;
    await before.drained();
    await before.stop();
  };
  return {
    issuer,
    audience,
    start,
    status: async (token: string) =>
      (
        await postModern(
          audience,
          'tools/call',
          { name: 'echo', arguments: {} },
          { headers: { authorization: `Bearer ${token}` } },
        )
      ).status,
    form: async (path: string, form: Readonly<Record<string, string>>) => {
      const answer = await fetch(`${issuer}${path}`, { method: 'POST', body: new URLSearchParams(form) });
      const text = await answer.text();
      return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, string>> };
    },
    async [Symbol.asyncDispose]() {
      await kits.at(-1)?.gateway.stop();
      await http[Symbol.asyncDispose]();
    },
  };
}

/** Follows redirects and confirms the consent page. Returns what the client gets. */
async function walk(browser: TestBrowser, start: string): Promise<URLSearchParams> {
  let answer = await browser.get(start);
  let at = start;
  for (let hops = 0; hops < 30; hops++) {
    const page = await answer.text();
    const next = answer.headers.get('location') ?? /content="0;url=([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    if (next !== undefined) {
      at = new URL(next, at).href;
      if (at.startsWith(REDIRECT)) return new URL(at).searchParams;
      answer = await browser.get(at);
      continue;
    }
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1];
    const [, name = '', value = ''] = /<button name="([^"]+)" value="([^"]+)" class="strong"/.exec(page) ?? [];
    if (csrf === undefined || name === '') throw new Error(`${answer.status} at ${at}: ${page}`);
    answer = await browser.post(at, { csrf, [name]: value });
  }
  throw new Error('the redirects do not end');
}

describe('a gateway with an authorization server', () => {
  proves(
    ['vmcp.auth-server.own-tokens', 'ask.audit.sign-ins'],
    'signs a person in, serves calls with its own tokens, and keeps sessions over a reload with new secrets',
    async () => {
      await using idp = await identityProvider();
      const folder = temporaryFolder('secrets');
      const logFile = join(folder, 'audit.log');
      await using at = await signInGateway(idp.issuer, logFile);
      const [old, current] = [join(folder, 'old'), join(folder, 'current')];
      await writeFile(old, randomBytes(32));
      await writeFile(current, randomBytes(32));
      await at.start([old]);
      expect(await at.status('no-token')).toBe(401);
      const registered = await fetch(`${at.issuer}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'Test client', redirect_uris: [REDIRECT] }),
      });
      const { client_id: clientId } = (await registered.json()) as { readonly client_id: string };
      const verifier = randomBytes(32).toString('base64url');
      const request = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: REDIRECT,
        state: 'state-of-client',
        resource: at.audience,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      const browser = new TestBrowser();
      const callback = await walk(browser, `${at.issuer}/oauth/authorize?${new URLSearchParams(request)}`);
      const issued = await at.form('/oauth/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        code: callback.get('code') ?? '',
        redirect_uri: REDIRECT,
        code_verifier: verifier,
      });
      expect(issued).toMatchObject({ status: 200 });
      const token = issued.body.access_token ?? '';
      expect(await at.status(token)).toBe(200);

      await at.start([current, old]);
      expect(await at.status(token)).toBe(200);
      const { refresh_token: refreshToken = '' } = issued.body;
      const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
      const refreshed = await at.form('/oauth/token', form);
      expect(refreshed.status).toBe(200);
      expect(claimsOf(refreshed.body.access_token ?? '').tsid).toBe(claimsOf(token).tsid);
      // the browser is signed in still: no provider, and the consent is remembered
      const again = await browser.get(`${at.issuer}/oauth/authorize?${new URLSearchParams(request)}`);
      expect(
        (await walk(browser, new URL(again.headers.get('location') ?? '', at.issuer).href)).get('code'),
      ).not.toBeNull();

      await at.start([current]);
      const second = await at.form('/oauth/token', { ...form, refresh_token: refreshed.body.refresh_token ?? '' });
      expect(second.status).toBe(200); // signed with the new secret at the first reload

      expect(
        (await at.form('/oauth/revoke', { token: second.body.refresh_token ?? '', client_id: clientId })).status,
      ).toBe(200);
      expect(await at.status(token)).toBe(401);

      await at[Symbol.asyncDispose]();
      const events = linesOf(await readFile(logFile, 'utf8')).filter(({ type }) => SIGN_IN.test(type));
      const { sub: person = '' } = claimsOf(token);
      expect(events.map(({ type, subjects, target }) => [type, subjects.user_id, target.client_id])).toEqual([
        ['vmcp_client_registered', undefined, clientId],
        ['vmcp_account_connected', person, undefined],
        ['vmcp_sign_in', person, clientId],
        ['vmcp_consent', person, clientId],
        ['vmcp_consent', person, clientId],
        ['vmcp_session_revoked', person, clientId],
      ]);
      expect(events[1]).toMatchObject({
        target: { provider: 'corp' },
        source: { type: 'network', value: '127.0.0.1' },
      });
    },
  );
});

const SIGN_IN = /^vmcp_(?:sign_in|account|consent|client|session)/;
