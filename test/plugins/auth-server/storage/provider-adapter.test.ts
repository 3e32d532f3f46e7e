import { describe, expect, it } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import { createProviderAdapter, RecordConsumed } from '../../../../plugins/auth-server/storage/provider-adapter.ts';
import type { AuthStorage } from '../../../../plugins/auth-server/storage/storage.ts';

const ID = 'canary-id-of-a-record';

/** A storage in memory that shows what was written. */
function open() {
  const inner = createMemoryStorage(Date.now);
  const written: string[] = [];
  const storage: AuthStorage = {
    ...inner,
    set: (key, value, ttlMs) => {
      written.push(`${key} ${JSON.stringify(value)} ${ttlMs}`);
      return inner.set(key, value, ttlMs);
    },
    replace: (key, before, value, ttlMs) => {
      written.push(`${key} ${JSON.stringify(value)} ${ttlMs}`);
      return inner.replace(key, before, value, ttlMs);
    },
  };
  return { storage, written, of: (kind: string) => createProviderAdapter(storage, kind) };
}

describe('the records of the OAuth library', () => {
  it('hold no id that opens something, and are read with it', async () => {
    const { of, written } = open();
    const rows = {
      AuthorizationCode: { jti: ID, kind: 'AuthorizationCode', grantId: 'grant', codeChallenge: 'c' },
      Interaction: {
        jti: ID,
        kind: 'Interaction',
        returnTo: `https://gw.example/oauth/authorize/${ID}`,
        session: { accountId: 'ada', uid: 'u', cookie: 'canary-cookie' },
        params: { state: 's' },
      },
      Session: { jti: ID, kind: 'Session', uid: 'u', accountId: 'ada' },
    };
    for (const [kind, row] of Object.entries(rows)) {
      await of(kind).upsert(ID, row, 60);
      const { cookie: _, ...session } = { cookie: '', ...(row as { session?: object }).session };
      const read = 'session' in row ? { ...row, session } : row;
      expect(await of(kind).find(ID)).toEqual(read);
      expect(await of(kind).find('another')).toBeUndefined();
    }
    expect(written.join('\n')).not.toMatch(/canary/);
    expect(written.map((line) => line.split(':')[0])).toEqual([
      'authcode-of-grant',
      'authcode',
      'interaction',
      'browser-session-uid',
      'browser-session',
    ]);
    expect(written.every((line) => line.endsWith(' 60000'))).toBe(true);
  });

  it('are used once: of parallel uses one succeeds, and the use is remembered for 30 minutes', async () => {
    const { of, written } = open();
    const codes = of('AuthorizationCode');
    await codes.upsert(ID, { grantId: 'grant' }, 60);
    const uses = await Promise.allSettled(Array.from({ length: 10 }, () => codes.consume(ID)));
    expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const use of uses) if (use.status === 'rejected') expect(use.reason).toBeInstanceOf(RecordConsumed);
    await expect(codes.consume(ID)).rejects.toBeInstanceOf(RecordConsumed);
    await expect(codes.consume('another')).rejects.toBeInstanceOf(RecordConsumed);
    expect(await codes.find(ID)).toMatchObject({ consumed: expect.any(Number) });
    expect(written.at(-1)).toMatch(/ 1800000$/);
  });

  it('are revoked by their grant', async () => {
    const { of } = open();
    const codes = of('AuthorizationCode');
    await codes.upsert(ID, { grantId: 'one' }, 60);
    await codes.upsert('other', { grantId: 'two' }, 60);
    await codes.revokeByGrantId('one');
    await codes.revokeByGrantId('never');
    expect(await codes.find(ID)).toBeUndefined();
    expect(await codes.find('other')).toBeDefined();
  });

  it('of sessions are found by their uid, also after the session got a new id', async () => {
    const { of } = open();
    const sessions = of('Session');
    await sessions.upsert(ID, { uid: 'u', accountId: 'ada' }, 60);
    await sessions.destroy(ID);
    expect(await sessions.findByUid('u')).toBeUndefined();
    await sessions.upsert('new id', { uid: 'u', accountId: 'ada' }, 60);
    expect(await sessions.findByUid('u')).toEqual({ uid: 'u', accountId: 'ada' });
    expect(await sessions.findByUid('never')).toBeUndefined();
    expect(await of('Interaction').findByUid('u')).toBeUndefined();
  });

  it('of grants keep their id', async () => {
    const { of } = open();
    await of('Grant').upsert('grant', { jti: 'grant', accountId: 'ada' }, 60);
    expect(await of('Grant').find('grant')).toEqual({ jti: 'grant', accountId: 'ada' });
    await of('Grant').destroy('grant');
    expect(await of('Grant').find('grant')).toBeUndefined();
  });

  it('end after a time, also when the library gives none', async () => {
    const { of, written } = open();
    await of('Grant').upsert('grant', {});
    expect(written).toEqual([`grant:grant {} ${30 * 24 * 3_600_000}`]);
  });

  it('of other kinds are not written', async () => {
    const { of } = open();
    for (const kind of ['DeviceCode', 'RefreshToken', 'constructor']) {
      await expect(of(kind).upsert(ID, {}, 60)).rejects.toThrow(`keeps no ${kind}`);
      expect(await of(kind).find(ID)).toBeUndefined();
      await of(kind).revokeByGrantId('grant');
    }
  });
});
