import { execFile } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readSecretBytes, readSecretReference, secretReference } from '@toolmgr/plugins/kit/secrets';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pluginCore } from '../../support/plugin-core.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const CANARY = 'canary-value-of-a-secret';

const problems = (given: unknown): readonly string[] =>
  (secretReference.safeParse(given).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);

const slotsOf = (environment: NodeJS.ProcessEnv) => pluginCore(environment).slots;

let folder: string;

beforeEach(() => {
  folder = temporaryFolder('secret-reference');
});
afterEach(async () => {
  vi.unstubAllEnvs();
});

describe('a secret reference', () => {
  it.each([
    { name: 'signing-keys', key: 'current.pem' },
    { name: 'a.b-c', key: '_Key-1..x' },
    { env: 'HMAC_SECRET' },
    { file: '/run/secrets/key' },
  ])('is accepted: %j', (given) => {
    expect(secretReference.parse(given)).toEqual(given);
  });

  it.each([
    [{}, 'expected name and key'],
    [{ name: 'a' }, 'key: missing; name needs it'],
    [{ key: 'a' }, 'name: missing; key needs it'],
    [{ name: 'a', key: 'b', env: 'C' }, 'not several of them'],
    [{ env: 'A', file: '/b' }, 'not several of them'],
    [{ name: '../etc', key: 'passwd' }, 'name: expected lower-case letters'],
    [{ name: 'a/b', key: 'c' }, 'name: expected lower-case letters'],
    [{ name: '..', key: 'c' }, 'name: expected lower-case letters'],
    [{ name: 'a', key: '..' }, 'key: expected letters'],
    [{ name: 'a', key: '.' }, 'key: expected letters'],
    [{ name: 'a', key: '..data' }, 'key: expected letters'],
    [{ name: 'a', key: 'b/c' }, 'key: expected letters'],
    [{ name: 'a'.repeat(254), key: 'b' }, 'name: '],
    [{ env: 'A=B' }, 'env: expected the name of an environment variable'],
    [{ name: 'a', key: 'b', value: CANARY }, 'value'],
  ])('is refused: %j', (given, expected) => {
    expect(problems(given).join('\n')).toContain(expected);
    expect(problems(given).join('\n')).not.toContain(CANARY);
  });

  it('of the contract is a file of the folder of secrets, also behind the links of a projected secret', async () => {
    await mkdir(join(folder, 'idp', '..2026'), { recursive: true });
    await writeFile(join(folder, 'idp', '..2026', 'client-secret'), `${CANARY}\n`);
    await symlink('..2026', join(folder, 'idp', '..data'));
    await symlink('..data/client-secret', join(folder, 'idp', 'client-secret'));
    vi.stubEnv('TOOLMGR_SECRETS_DIR', folder);
    const reference = { name: 'idp', key: 'client-secret' };
    const secret = await readSecretReference(slotsOf({}), reference, 'here');
    expect(secret.reveal()).toBe(CANARY);
    expect(String(await readSecretBytes(slotsOf({}), reference, 'here'))).toBe(`${CANARY}\n`);
  });

  it('of the contract is read from a secret source without that folder', async () => {
    vi.stubEnv('TOOLMGR_SECRETS_DIR', '');
    const slots = slotsOf({ MY_IDP_CLIENT_SECRET: `${CANARY}\n` });
    const secret = await readSecretReference(slots, { name: 'my-idp', key: 'client.secret' }, 'here');
    expect(secret.reveal()).toBe(CANARY);
  });

  it('names a variable', async () => {
    const bytes = await readSecretBytes(slotsOf({ HMAC: `${CANARY}\n` }), { env: 'HMAC' }, 'here');
    expect(String(bytes)).toBe(`${CANARY}\n`);
  });

  it('loses one newline at the end of a text and no other character', async () => {
    const file = join(folder, 'text');
    await writeFile(file, ` ${CANARY} \n\r\n`);
    expect((await readSecretReference(slotsOf({}), { file }, 'here')).reveal()).toBe(` ${CANARY} \n`);
  });

  it('that is missing is told with the setting and the reference', async () => {
    vi.stubEnv('TOOLMGR_SECRETS_DIR', folder);
    const read = readSecretReference(slotsOf({}), { name: 'keys', key: 'one' }, 'hmacSecretRefs[0]');
    await expect(read).rejects.toMatchObject({ code: 'SECRET_MISSING' });
    await expect(read).rejects.toThrow(/^hmacSecretRefs\[0\]: secret keys\/one cannot be read .*ENOENT/);
    vi.stubEnv('TOOLMGR_SECRETS_DIR', '');
    await expect(readSecretReference(slotsOf({}), { name: 'keys', key: 'one' }, 'hmacSecretRefs[0]')).rejects.toThrow(
      'hmacSecretRefs[0]: secret keys/one: the environment variable KEYS_ONE is not set',
    );
  });

  it('to an empty, a large or a special file is refused without its content', async () => {
    const refusal = async (file: string) =>
      readSecretBytes(slotsOf({}), { file }, 'here').then(
        () => 'accepted',
        (cause: Error) => cause.message,
      );
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(await refusal(file)).toBe(`here: file ${file} is empty`);
    await writeFile(file, CANARY);
    await truncate(file, 1024 * 1024 + 1);
    expect(await refusal(file)).toBe(`here: file ${file} has more than 1048576 bytes`);
    expect(await refusal('/dev/zero')).toContain('not a regular file');
    expect(await refusal(folder)).toContain(`here: file ${folder} cannot be read`);
    const pipe = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    expect(await refusal(pipe)).toContain('not a regular file');
  });

  it('to a text of a newline only is refused', async () => {
    const file = join(folder, 'newline');
    await writeFile(file, '\n');
    await expect(readSecretReference(slotsOf({}), { file }, 'here')).rejects.toThrow(`here: file ${file} is empty`);
  });
});
