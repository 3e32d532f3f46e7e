import { GatewayFault } from '@toolmgr/core';
import { describe, expect } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import type { AuthStorage } from '../../../../plugins/auth-server/storage/storage.ts';
import { authServerRig } from '../../../support/auth-server-rig.ts';
import { proves } from '../../../support/proves.ts';

/** A storage that can be away. */
function breakable() {
  const storage = createMemoryStorage(Date.now);
  const state = { isAway: false };
  const broken = Object.fromEntries(
    Object.entries({ ...storage, listen: undefined }).map(([name, operation]) => [
      name,
      async (...given: unknown[]) => {
        if (state.isAway && name !== 'close') throw new GatewayFault('STORE_UNAVAILABLE', 'CANARY redis-1.internal');
        return (operation as (...values: unknown[]) => unknown)(...given);
      },
    ]),
  ) as unknown as Omit<AuthStorage, 'listen'>;
  return { storage: { ...broken, listen: storage.listen }, state };
}

async function registration(issuer: string) {
  const answer = await fetch(`${issuer}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as { error?: unknown } };
}

describe('while the storage does not answer', () => {
  proves('choice.oauth.storage-away', 'clients are told to try again, and nothing of the fault is shown', async () => {
    const { storage, state } = breakable();
    await using rig = await authServerRig({ storage });
    const { clientId, refresh, claims } = await rig.tokens();
    const attempt = rig.begin(clientId);
    const code = (await attempt.finish()).get('code') ?? '';
    state.isAway = true;
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh };
    for (const answer of [
      await rig.token(form),
      await attempt.exchange(code),
      await rig.post('/oauth/revoke', { token: refresh, client_id: clientId }),
      await registration(rig.issuer),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([503, 'temporarily_unavailable']);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(answer.text).not.toContain('CANARY');
    }
    const page = await attempt.browser.get(attempt.url);
    expect(page.status).toBe(503);
    expect(await page.text()).not.toContain('CANARY');
    // a session that was known a moment ago counts as alive
    expect(await rig.server.issuer.isWithdrawn(claims)).toBe(false);
    state.isAway = false;
    expect((await rig.token(form)).status).toBe(200);
    expect((await attempt.exchange(code)).status).toBe(200);
  });

  proves(
    'choice.oauth.storage-away',
    'a session that is known to live counts as alive for a minute, and then as unknown',
    async () => {
      const { storage, state } = breakable();
      await using rig = await authServerRig({ storage });
      const { claims } = await rig.tokens();
      expect(await rig.server.issuer.isWithdrawn(claims)).toBe(false);
      state.isAway = true;
      rig.http.clock.aheadMs = 50_000;
      expect(await rig.server.issuer.isWithdrawn(claims)).toBe(false);
      rig.http.clock.aheadMs = 61_000;
      await expect(Promise.resolve(rig.server.issuer.isWithdrawn(claims))).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      });
    },
  );
});

describe('two replicas', () => {
  proves('choice.oauth.withdrawn', 'see within five seconds that a session ended', async () => {
    const storage = createMemoryStorage(Date.now);
    await using one = await authServerRig({ storage });
    await using two = await authServerRig({ storage, issuer: one.issuer });
    const { clientId, refresh, claims } = await one.tokens();
    expect(await two.server.issuer.isWithdrawn(claims)).toBe(false);
    await one.post('/oauth/revoke', { token: refresh, client_id: clientId });
    expect(await one.server.issuer.isWithdrawn(claims)).toBe(true);
    two.http.clock.aheadMs = 5_001;
    expect(await two.server.issuer.isWithdrawn(claims)).toBe(true);
  });
});

describe('authorization requests that wait for a person', () => {
  proves('choice.oauth.pending', 'of one network end its own oldest ones, not those of others', async () => {
    const { createPendingRequests } = await import('../../../../plugins/auth-server/provider/pending-requests.ts');
    const clock = { nowMs: 0 };
    const pending = createPendingRequests(600_000, () => clock.nowMs, 6, 4);
    expect(pending.began('victim', '10.0.0.1')).toEqual([]);
    for (const uid of ['a', 'b', 'c', 'd']) expect(pending.began(uid, '2001:db8::1')).toEqual([]);
    expect(pending.began('e', '2001:db8::2')).toEqual(['a']); // the same /64
    expect(pending.began('f', '10.0.0.2')).toEqual([]);
    expect(pending.began('g', '10.0.0.3')).toEqual(['b']); // all places are taken: the network with the most gives one
    pending.ended('victim');
    expect(pending.began('h', '10.0.0.4')).toEqual([]);
    clock.nowMs = 600_001;
    for (const uid of ['i', 'j', 'k', 'l']) expect(pending.began(uid, '10.0.0.9')).toEqual([]);
  });
});
