import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import { type AuthServerRig, authServerRig, claimsOf } from '../../../support/auth-server-rig.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const refresh = (rig: AuthServerRig, clientId: string, token: string, more: Readonly<Record<string, string>> = {}) =>
  rig.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more });

describe('refresh tokens', () => {
  it('give the same successor to requests at the same time, on two replicas too', async () => {
    const storage = createMemoryStorage(Date.now);
    await using one = await authServerRig({ storage });
    await using two = await authServerRig({ storage, issuer: one.issuer });
    const { clientId, refresh: first } = await one.tokens();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => refresh(at % 2 === 0 ? one : two, clientId, first)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    const successors = new Set(answers.map(({ body }) => body.refresh_token));
    expect(successors.size).toBe(1);
    expect((await refresh(two, clientId, [...successors][0] ?? '')).status).toBe(200);
  });

  proves(
    'choice.oauth.refresh-reuse',
    'that are used again after the grace period end the family and the session',
    async () => {
      await using rig = await authServerRig();
      const { clientId, refresh: first, claims } = await rig.tokens();
      const second = (await refresh(rig, clientId, first)).body.refresh_token ?? '';
      const third = (await refresh(rig, clientId, second)).body.refresh_token ?? '';
      rig.http.clock.aheadMs = 11_000;
      expect((await refresh(rig, clientId, first)).body.error).toBe('invalid_grant');
      expect((await refresh(rig, clientId, third)).body.error).toBe('invalid_grant');
      expect(await rig.server.issuer.isWithdrawn(claims)).toBe(true);
    },
  );

  proves(
    'choice.oauth.refresh-grace',
    'of an answer that was delivered end the family when they are used after the grace period',
    async () => {
      await using rig = await authServerRig();
      const { clientId, refresh: first } = await rig.tokens();
      const second = (await refresh(rig, clientId, first)).body.refresh_token ?? '';
      await new Promise((resolve) => setTimeout(resolve, 2_500)); // the response counts as delivered
      const repeated = await refresh(rig, clientId, first);
      expect(repeated.body.refresh_token).toBe(second);
      rig.http.clock.aheadMs = 8_000;
      expect((await refresh(rig, clientId, first)).body.error).toBe('invalid_grant');
      expect((await refresh(rig, clientId, second)).body.error).toBe('invalid_grant');
    },
  );

  proves(
    'choice.oauth.refresh-grace',
    'keep a person signed in when a replica ends between the rotation and its answer',
    async () => {
      const storage = createMemoryStorage(Date.now);
      let isKilled = false;
      const killed: typeof storage = {
        ...storage,
        async replace(key, ...rest) {
          const written = await storage.replace(key, ...rest);
          if (isKilled && key.startsWith('refresh:')) await new Promise(() => {}); // never answers
          return written;
        },
      };
      await using first = await authServerRig({ storage: killed });
      const { clientId, refresh: token } = await first.tokens();
      isKilled = true;
      const lost = new AbortController();
      const gone = fetch(`${first.http.origin}/oauth/token`, {
        method: 'POST',
        signal: lost.signal,
        body: new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token }),
      }).catch(() => 'gone');
      await new Promise((resolve) => setTimeout(resolve, 500));
      lost.abort();
      expect(await gone).toBe('gone');
      await using second = await authServerRig({ storage, issuer: first.issuer });
      second.http.clock.aheadMs = 3_600_000; // long after the grace period
      const again = await refresh(second, clientId, token);
      expect(again.status).toBe(200);
      expect((await refresh(second, clientId, again.body.refresh_token ?? '')).status).toBe(200);
    },
  );

  proves('choice.oauth.refresh-lost-write', 'survive a storage that lost the last rotation', async () => {
    const storage = createMemoryStorage(Date.now);
    await using rig = await authServerRig({ storage });
    const { clientId, refresh: first, claims } = await rig.tokens();
    const key = `refresh:${claims.tsid}`;
    const before = await storage.get(key);
    const second = (await refresh(rig, clientId, first)).body.refresh_token ?? '';
    await storage.set(key, before?.value ?? {}, 60_000); // a failover to a copy of before
    const third = await refresh(rig, clientId, second);
    expect(third.status).toBe(200);
    expect((await refresh(rig, clientId, third.body.refresh_token ?? '')).status).toBe(200);
  });

  it('give tokens with fewer scopes when asked, and never more', async () => {
    await using rig = await authServerRig();
    const { clientId, refresh: first } = await rig.tokens();
    const narrow = await refresh(rig, clientId, first, { scope: 'openid email' });
    expect(narrow.body.scope).toBe('openid email');
    expect(claimsOf(narrow.body.access_token ?? '').scp).toEqual(['openid', 'email']);
    const { refresh_token: second = '' } = narrow.body;
    expect((await refresh(rig, clientId, second, { scope: 'admin' })).body.error).toBe('invalid_scope');
    expect((await refresh(rig, clientId, second, { resource: 'https://other.example' })).body.error).toBe(
      'invalid_target',
    );
    const whole = await refresh(rig, clientId, second); // the refused requests did not use it up
    expect(whole.body.scope).toBe('openid profile email offline_access');
  });

  proves(
    'choice.oauth.revocation',
    'end by revocation with all tokens of the session, for the client that owns them',
    async () => {
      await using rig = await authServerRig();
      const { clientId, refresh: token, claims } = await rig.tokens();
      const other = await rig.register();
      expect((await rig.post('/oauth/revoke', { token, client_id: other })).status).toBe(200); // says nothing
      expect(await rig.server.issuer.isWithdrawn(claims)).toBe(false);
      expect((await rig.post('/oauth/revoke', { token, client_id: clientId })).status).toBe(200);
      expect(await rig.server.issuer.isWithdrawn(claims)).toBe(true);
      expect((await refresh(rig, clientId, token)).body.error).toBe('invalid_grant');
      expect((await rig.post('/oauth/revoke', { token: 'unknown', client_id: clientId })).status).toBe(200);
    },
  );

  proves(
    'choice.oauth.revocation',
    'end when an access token of the session is revoked, by its client only',
    async () => {
      await using rig = await authServerRig();
      const { clientId, refresh: token, access, claims } = await rig.tokens();
      const revoke = (clientOfRequest: string, given: string) =>
        rig.post('/oauth/revoke', { token: given, client_id: clientOfRequest, token_type_hint: 'access_token' });
      expect((await revoke(await rig.register(), access)).status).toBe(200); // says nothing
      expect(
        (
          await revoke(
            clientId,
            access.replace(/\.(.)(?=[^.]*$)/, (_, first) => (first === 'A' ? '.B' : '.A')),
          )
        ).body.error,
      ).toBe('unsupported_token_type');
      await using other = await authServerRig();
      expect((await revoke(clientId, (await other.tokens()).access)).body.error).toBe('unsupported_token_type');
      expect(await rig.server.issuer.isWithdrawn(claims)).toBe(false);
      rig.http.clock.aheadMs = 7_200_000; // an expired access token names its session too
      expect((await revoke(clientId, access)).status).toBe(200);
      expect(await rig.server.issuer.isWithdrawn(claims)).toBe(true);
      expect((await refresh(rig, clientId, token)).body.error).toBe('invalid_grant');
    },
  );

  it('end when they are not used for their lifetime, which every use extends', async () => {
    await using rig = await authServerRig({ config: { tokenLifespans: { refreshTokenLifespan: '2h' } } });
    const { clientId, refresh: first } = await rig.tokens();
    rig.http.clock.aheadMs = 90 * 60_000;
    const second = (await refresh(rig, clientId, first)).body.refresh_token ?? '';
    rig.http.clock.aheadMs = 180 * 60_000;
    const third = (await refresh(rig, clientId, second)).body.refresh_token ?? '';
    expect(third).not.toBe('');
    rig.http.clock.aheadMs = 301 * 60_000;
    expect((await refresh(rig, clientId, third)).body.error).toBe('invalid_grant');
  });

  proves('vmcp.auth-server.refresh-token-lifespan', 'end after 168 hours by default', async () => {
    await using rig = await authServerRig();
    const [used, late] = [await rig.tokens(), await rig.tokens()];
    rig.http.clock.aheadMs = 168 * 3_600_000 - 60_000;
    expect((await refresh(rig, used.clientId, used.refresh)).status).toBe(200);
    rig.http.clock.aheadMs = 168 * 3_600_000 + 60_000;
    expect((await refresh(rig, late.clientId, late.refresh)).body.error).toBe('invalid_grant');
  });

  proves(
    'vmcp.auth-server.hmac-secret-first-current',
    'and sessions survive new secrets after a reload of the configuration',
    async () => {
      const folder = temporaryFolder('secrets');
      const [old, current] = [join(folder, 'old'), join(folder, 'new')];
      await writeFile(old, randomBytes(32));
      await writeFile(current, randomBytes(48));
      await using before = await authServerRig({ config: { hmacSecretRefs: [{ file: old }] } });
      const { clientId, refresh: first } = await before.tokens();
      const attempt = before.begin(clientId);
      const code = (await attempt.finish()).get('code') ?? '';
      const waiting = before.begin(clientId);
      const answer = await waiting.browser.get(waiting.url); // the browser is at the sign-in page during the reload
      // the reload opens the new server before it closes the old one
      await using after = await authServerRig({
        issuer: before.issuer,
        config: { hmacSecretRefs: [{ file: current }, { file: old }] },
      });
      await before.server.close();
      expect((await refresh(after, clientId, first)).status).toBe(200);
      const exchange = {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        code_verifier: attempt.verifier,
      };
      expect((await after.token({ ...exchange, redirect_uri: 'http://127.0.0.1:49152/callback' })).status).toBe(200);
      const page = new URL(answer.headers.get('location') ?? '');
      const signedIn = await waiting.browser.get(`${after.http.origin}${page.pathname}`);
      expect(signedIn.status).toBe(303);
    },
  );
});
