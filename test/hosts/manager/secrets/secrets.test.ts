import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { writePasswordFile } from '../../../../plugins/secrets/encrypted/password-file.ts';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';

const SECRETS = '/api/v1beta/secrets';
const KEYS = `${SECRETS}/default/keys`;
const VALUE = 'hunter2-value';
const LONG = 120_000;
let manager: StartedManager;
afterEach(async () => {
  // no value in a log line
  expect(manager.logged.join('')).not.toContain(VALUE);
  await manager.stop();
});

async function start(env: Readonly<Record<string, string | undefined>> = {}): Promise<void> {
  manager = await startManager({
    env: { TOOLMGR_SECRETS_PASSWORD: undefined, TOOLMGR_SECRETS_PROVIDER: undefined, ...env },
  });
}
async function startEncrypted(): Promise<void> {
  await start();
  expect((await manager.request('POST', SECRETS, { provider_type: 'encrypted' })).status).toBe(201);
}
const codes = async (...answers: Promise<{ status: number; body: { code: string } }>[]) =>
  (await Promise.all(answers)).map(({ status, body }) => [status, body?.code]);

describe('set-up', () => {
  proves(
    ['manager.secrets.setup-201', 'manager.secrets.setup-body', 'manager.provider-setup-result.fields'],
    'makes the encrypted file on a machine without a keyring: the password is in a file of the user',
    async () => {
      await start();
      const { status, body } = await manager.request('POST', SECRETS, { provider_type: 'encrypted' });
      const file = join(manager.home, 'data/toolmgr/secrets_password');
      expect(status).toBe(201);
      expect(body).toEqual({
        provider_type: 'encrypted',
        message: `secrets are in ${manager.home}/data/toolmgr/secrets_encrypted; their password is in ${file}`,
      });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const provider = await manager.request('GET', `${SECRETS}/default`);
      expect(provider.body).toEqual({
        name: 'default',
        provider_type: 'encrypted',
        capabilities: { can_read: true, can_write: true, can_delete: true, can_list: true, can_cleanup: true },
      });
      const environment = await manager.request('POST', SECRETS, { provider_type: 'environment' });
      expect(environment.status).toBe(201);
      expect((await manager.request('GET', `${SECRETS}/default`)).body.provider_type).toBe('environment');
    },
    LONG,
  );

  it(
    'refuses a password that differs from that of the variable, and makes no file',
    async () => {
      await start({ TOOLMGR_SECRETS_PASSWORD: 'of-the-variable' });
      const refused = await manager.request('POST', SECRETS, { provider_type: 'encrypted', password: 'another-one' });
      expect([refused.status, refused.text.includes('TOOLMGR_SECRETS_PASSWORD')]).toEqual([400, true]);
      expect((await manager.request('POST', SECRETS, { provider_type: 'encrypted' })).status).toBe(201);
      const created = await manager.request('POST', KEYS, { key: 'a', value: VALUE });
      expect(created.status).toBe(201);
    },
    LONG,
  );

  proves(
    'manager.secrets.setup-400',
    'answers 400 to a bad body, and when there is no keyring for the provider keyring',
    async () => {
      await start();
      for (const body of [
        {},
        { provider_type: 'vault' },
        { provider_type: 'encrypted', password: 'short' },
        { provider_type: 'encrypted', password: 'line\nbreak' },
        { provider_type: 'environment', password: 'long enough' },
        { provider_type: 'keyring' },
      ]) {
        const answer = await manager.request('POST', SECRETS, body);
        expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
      }
      expect((await manager.request('GET', `${SECRETS}/default`)).status).toBe(404);
    },
    LONG,
  );

  proves(
    'manager.secrets.setup-500',
    'answers 500 when the file is damaged, and it stays as it is',
    async () => {
      await startEncrypted();
      const file = join(manager.home, 'data/toolmgr/secrets_encrypted');
      await writeFile(file, 'damaged\n');
      expect(await codes(manager.request('POST', SECRETS, { provider_type: 'encrypted' }))).toEqual([
        [500, 'internal_error'],
      ]);
      expect(await readFile(file, 'utf8')).toBe('damaged\n');
    },
    LONG,
  );

  proves(
    'manager.secrets.setup-400',
    'answers 400 to a wrong password, and keeps the provider that works',
    async () => {
      await startEncrypted();
      const { status, body, text } = await manager.request('POST', SECRETS, {
        provider_type: 'encrypted',
        password: 'wrong-password',
      });
      expect([status, body.code]).toEqual([400, 'bad_request']);
      expect(body.detail).toContain('cannot be opened');
      expect(text).not.toContain('wrong-password');
      expect((await manager.request('POST', KEYS, { key: 'A', value: VALUE })).status).toBe(201);
    },
    LONG,
  );
});

describe('secrets of the encrypted file', () => {
  proves(
    [
      'manager.secrets.create-201',
      'manager.secrets.update-200',
      'manager.secret-result.fields',
      'manager.secrets.default-provider',
    ],
    'are created, listed without values, updated and deleted',
    async () => {
      await startEncrypted();
      const created = await manager.request('POST', KEYS, { key: 'TOKEN', value: VALUE });
      expect([created.status, created.body]).toEqual([201, { key: 'TOKEN', message: 'the secret is stored' }]);
      const listed = await manager.request('GET', KEYS);
      expect(listed.body).toEqual({ keys: [{ key: 'TOKEN', description: 'in the encrypted file' }] });
      const updated = await manager.request('PUT', `${KEYS}/TOKEN`, { value: `${VALUE} 2` });
      expect([updated.status, updated.body]).toEqual([200, { key: 'TOKEN', message: 'the secret has the new value' }]);
      expect((await manager.request('DELETE', `${KEYS}/TOKEN`)).status).toBe(204);
      expect((await manager.request('GET', KEYS)).body).toEqual({ keys: [] });
      for (const answer of [created, listed, updated]) expect(answer.text).not.toContain(VALUE);
      const file = await readFile(join(manager.home, 'data/toolmgr/secrets_encrypted'), 'utf8');
      expect(file).not.toContain(VALUE);
    },
    LONG,
  );

  proves(
    ['manager.secrets.create-400', 'manager.secrets.update-400'],
    'are refused with 400 when the name or the value is not valid; no value is repeated',
    async () => {
      await startEncrypted();
      for (const key of ['', 'a/b', '../x', '__proto__', '__toolmgr_auth_x', 'a b', 'ä', 'a'.repeat(101), 'a\nb']) {
        const answer = await manager.request('POST', KEYS, { key, value: VALUE });
        expect([key, answer.status]).toEqual([key, 400]);
        expect(answer.text).not.toContain(VALUE);
      }
      for (const value of ['', `${VALUE}\0`, VALUE.repeat(10_000), 1, null]) {
        const answer = await manager.request('POST', KEYS, { key: 'A', value });
        expect(answer.status).toBe(400);
        expect(answer.text).not.toContain(VALUE);
        expect((await manager.request('PUT', `${KEYS}/A`, { value })).status).toBe(400);
      }
      const extra = await manager.request('POST', KEYS, { key: 'A', valeu: VALUE });
      expect([extra.status, extra.text.includes(VALUE)]).toEqual([400, false]);
    },
    LONG,
  );

  proves(
    ['manager.secrets.create-409', 'manager.secrets.update-404'],
    'answer 409 when there is one of the name, also as a variable, and 404 when there is none to update',
    async () => {
      await start({ TOOLMGR_SECRET_OTHER: VALUE });
      await manager.request('POST', SECRETS, { provider_type: 'encrypted' });
      await manager.request('POST', KEYS, { key: 'A', value: VALUE });
      expect(
        await codes(
          manager.request('POST', KEYS, { key: 'A', value: 'x' }),
          manager.request('POST', KEYS, { key: 'OTHER', value: 'x' }),
          manager.request('PUT', `${KEYS}/B`, { value: 'x' }),
          manager.request('DELETE', `${KEYS}/B`),
        ),
      ).toEqual([
        [409, 'conflict'],
        [409, 'conflict'],
        [404, 'not_found'],
        [404, 'not_found'],
      ]);
    },
    LONG,
  );

  proves(
    ['manager.secrets.create-500', 'manager.secrets.update-500'],
    'answer 500 when the file is damaged, and it stays as it is',
    async () => {
      await startEncrypted();
      const file = join(manager.home, 'data/toolmgr/secrets_encrypted');
      await writeFile(file, 'damaged\n');
      const answers = await codes(
        manager.request('POST', KEYS, { key: 'A', value: VALUE }),
        manager.request('PUT', `${KEYS}/A`, { value: VALUE }),
      );
      expect(answers).toEqual([
        [500, 'internal_error'],
        [500, 'internal_error'],
      ]);
      expect(await readFile(file, 'utf8')).toBe('damaged\n');
    },
    LONG,
  );

  it(
    'stay readable after the password was changed, and the old one is gone',
    async () => {
      await startEncrypted();
      await manager.request('POST', KEYS, { key: 'A', value: VALUE });
      const file = join(manager.home, 'data/toolmgr/secrets_password');
      const before = await readFile(file, 'utf8');
      const changed = await manager.request('POST', `${SECRETS}/default/password`, {});
      expect(changed.status).toBe(200);
      const after = await readFile(file, 'utf8');
      expect(after).not.toBe(before);
      expect(after.split('\n')).toHaveLength(3);
      const chosen = await manager.request('POST', `${SECRETS}/default/password`, { password: 'correct horse' });
      expect([chosen.status, chosen.text.includes('correct horse')]).toEqual([200, false]);
      expect((await manager.request('GET', KEYS)).body.keys).toHaveLength(1);
      expect((await manager.request('PUT', `${KEYS}/A`, { value: 'x' })).status).toBe(200);
    },
    LONG,
  );

  it(
    'can be opened when the process is killed while the password changes, before or after the file is replaced',
    async () => {
      await startEncrypted();
      const path = join(manager.home, 'data/toolmgr/secrets_password');
      const [id = '', current = ''] = (await readFile(path, 'utf8')).split('\n');
      // killed before the file was replaced: the new password does not open it
      await writePasswordFile(path, id, [current, 'not in force yet']);
      expect((await manager.request('GET', KEYS)).status).toBe(200);
      // killed after it: the old one does not open it any more
      await writePasswordFile(path, id, ['no longer in force', current]);
      expect((await manager.request('GET', KEYS)).status).toBe(200);
    },
    LONG,
  );

  it(
    'are not opened with a password file that others can read, or a link',
    async () => {
      await startEncrypted();
      const path = join(manager.home, 'data/toolmgr/secrets_password');
      await chmod(path, 0o644);
      expect(await codes(manager.request('GET', KEYS))).toEqual([[400, 'bad_request']]);
      await chmod(path, 0o600);
      await symlink(path, `${path}-link`);
      expect((await manager.request('GET', KEYS)).status).toBe(200);
      expect(await readdir(dirname(path))).toContain('secrets_password-link');
    },
    LONG,
  );
});

describe('other providers', () => {
  proves(
    ['manager.secrets.create-404'],
    'answers 404 before a set-up',
    async () => {
      await start();
      expect(
        await codes(
          manager.request('POST', KEYS, { key: 'A', value: VALUE }),
          manager.request('PUT', `${KEYS}/A`, { value: VALUE }),
          manager.request('GET', KEYS),
          manager.request('GET', `${SECRETS}/default`),
          manager.request('DELETE', `${KEYS}/A`),
          manager.request('POST', `${SECRETS}/default/password`, {}),
        ),
      ).toEqual(Array.from({ length: 6 }, () => [404, 'not_found']));
    },
    LONG,
  );

  it('answer 404 when only the variable names the default provider, or a set-up was not completed', async () => {
    const notSetUp = () => codes(manager.request('GET', `${SECRETS}/default`), manager.request('GET', KEYS));
    await start({ TOOLMGR_SECRETS_PROVIDER: 'environment' });
    expect(await notSetUp()).toEqual(Array.from({ length: 2 }, () => [404, 'not_found']));
    await manager.stop();
    await start();
    const settings = join(manager.home, 'config/toolmgr/config.yaml');
    await mkdir(dirname(settings), { recursive: true });
    await writeFile(settings, 'secrets:\n  provider_type: environment\n  setup_completed: false\n');
    expect(await notSetUp()).toEqual(Array.from({ length: 2 }, () => [404, 'not_found']));
    expect((await manager.request('POST', SECRETS, { provider_type: 'environment' })).status).toBe(201);
    expect((await manager.request('GET', `${SECRETS}/default`)).status).toBe(200);
  });

  proves(
    ['manager.secrets.create-405', 'manager.secrets.update-405', 'manager.secrets.encrypted-only'],
    'are read-only: 405',
    async () => {
      await start();
      expect((await manager.request('POST', SECRETS, { provider_type: 'environment' })).status).toBe(201);
      expect(
        await codes(
          manager.request('POST', KEYS, { key: 'A', value: VALUE }),
          manager.request('PUT', `${KEYS}/A`, { value: VALUE }),
          manager.request('GET', KEYS),
          manager.request('DELETE', `${KEYS}/A`),
          manager.request('POST', `${SECRETS}/default/password`, {}),
        ),
      ).toEqual(Array.from({ length: 5 }, () => [405, 'provider_read_only']));
    },
    LONG,
  );

  it(
    '1password is tested through its program before it is recorded',
    async () => {
      await start({ OP_SERVICE_ACCOUNT_TOKEN: 'ops_bad', OP_STUB_ITEMS: JSON.stringify({ 'op://v/i/f': VALUE }) });
      const programs = join(manager.home, 'programs');
      await mkdir(programs);
      await symlink(join(import.meta.dirname, '../../../support/op-stub.mjs'), join(programs, 'op'));
      const before = process.env.PATH;
      process.env.PATH = `${programs}:${before}`;
      try {
        const refused = await manager.request('POST', SECRETS, { provider_type: '1password' });
        expect([refused.status, refused.text.includes('ops_bad')]).toEqual([400, false]);
        expect(refused.body.detail).toContain('OP_SERVICE_ACCOUNT_TOKEN');
        expect((await manager.request('GET', `${SECRETS}/default`)).status).toBe(404);
        process.env.OP_SERVICE_ACCOUNT_TOKEN = 'ops_good';
        expect((await manager.request('POST', SECRETS, { provider_type: '1password' })).status).toBe(201);
        const listed = await manager.request('GET', KEYS);
        expect(listed.body).toEqual({ keys: [{ key: 'op://v/i/f', description: 'Title 0: credential' }] });
        expect(listed.text).not.toContain(VALUE);
        expect(await codes(manager.request('POST', KEYS, { key: 'A', value: 'x' }))).toEqual([
          [405, 'provider_read_only'],
        ]);
      } finally {
        process.env.PATH = before;
        delete process.env.OP_SERVICE_ACCOUNT_TOKEN;
      }
    },
    LONG,
  );
});
