import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createEncryptedFile, headerOf, newHeader } from '@toolmgr/plugins/secrets';
import { afterEach, describe, expect, it } from 'vitest';
import { encryptedSecrets } from '../../../../plugins/secrets/encrypted/encrypted-secrets.ts';
import { secretSourceContract } from '../../../contract/secret-source.contract.ts';
import { newStored, PASSWORD, QUICK, type Stored } from './stored.ts';

const opened: Stored[] = [];
const stored = async (secrets?: Readonly<Record<string, string>>): Promise<Stored> => {
  const one = await newStored(secrets);
  opened.push(one);
  return one;
};

afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

describe('the source encrypted', () => {
  secretSourceContract(async (secrets) => encryptedSecrets((await stored(secrets)).open()));

  it('sees a secret that another process stored later', async () => {
    const { open } = await stored();
    const source = encryptedSecrets(open());
    await expect(source.read('late', AbortSignal.abort())).rejects.toMatchObject({ code: 'SECRET_MISSING' });
    await open().change(({ user }) => void user.set('late', 'v1'));
    expect(await source.read('late', AbortSignal.abort())).toBe('v1');
  });

  it('does not show secrets of the system as secrets of the user', async () => {
    const { open } = await stored();
    await open().change(({ system }) => void system.set('token', 'v1'));
    const source = encryptedSecrets(open());
    await expect(source.read('token', AbortSignal.abort())).rejects.toMatchObject({ code: 'SECRET_MISSING' });
    expect(await encryptedSecrets(open(), 'system').read('token', AbortSignal.abort())).toBe('v1');
  });
});

describe('the encrypted file', () => {
  it('is readable only by its user, and holds neither names nor values as text', async () => {
    const { path } = await stored({ GITHUB_TOKEN: 'hunter2-hunter2' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const text = await readFile(path, 'utf8');
    expect(text).not.toMatch(/hunter2|GITHUB/);
    expect(Buffer.from(text.split('\n')[1] ?? '', 'base64').toString('latin1')).not.toMatch(/hunter2|GITHUB/);
  });

  it('is encrypted anew at each change', async () => {
    const { path, open } = await stored({ a: '1' });
    const before = await readFile(path, 'utf8');
    await open().change(({ user }) => void user.set('a', '1'));
    const after = await readFile(path, 'utf8');
    expect(after).not.toBe(before);
    expect(after.split('\n')[0]).toBe(before.split('\n')[0]);
  });

  it('keeps its secrets and its id when the password changes', async () => {
    const { path, open } = await stored({ a: '1' });
    const id = (await headerOf(path))?.id ?? '';
    await open().replaceKey(await newHeader('another', QUICK, id));
    expect((await headerOf(path))?.id).toBe(id);
    expect([...(await open('another').read()).user]).toEqual([['a', '1']]);
    await expect(open().read()).rejects.toThrow(/the password in TOOLMGR_SECRETS_PASSWORD is wrong/);
  });

  it('is not replaced by a second setup', async () => {
    const { path, open } = await stored({ a: '1' });
    expect(await createEncryptedFile(path, await newHeader('another', QUICK))).toBe(false);
    expect((await open().read()).user.get('a')).toBe('1');
  });

  it('keeps all changes of many writers at once', async () => {
    const { open } = await stored();
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => open().change(({ user }) => void user.set(`n${n}`, `${n}`))),
    );
    expect((await open().read()).user.size).toBe(20);
  });

  it('refuses content over 4 MiB and keeps the old one', async () => {
    const { open } = await stored({ a: '1' });
    const big = open().change(({ user }) => void user.set('big', 'x'.repeat(4 * 1024 * 1024)));
    await expect(big).rejects.toThrow(/is full: all secrets together have at most 4 MiB/);
    expect([...(await open().read()).user.keys()]).toEqual(['a']);
  });

  it('without a password says what to do', async () => {
    const { open } = await stored();
    const error = await open('').read().catch(String);
    expect(error).toMatch(/cannot be opened: there is no password: TOOLMGR_SECRETS_PASSWORD is not set/);
    expect(error).toContain('set TOOLMGR_SECRETS_PASSWORD, or run the command on a terminal');
  });

  it('that is missing says how it is made', async () => {
    const { open, path } = await stored();
    await rm(path);
    await expect(open().read()).rejects.toMatchObject({
      code: 'SECRETS_UNAVAILABLE',
      message: `there are no encrypted secrets at ${path}: make the file with toolmgr secret setup`,
    });
  });
});

describe('a file that others changed', () => {
  it('is refused when any byte differs', async () => {
    const { path, open } = await stored({ a: 'hunter2' });
    const text = await readFile(path);
    const accepted: number[] = [];
    for (let at = 0; at < text.length; at++) {
      const changed = Buffer.from(text);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 7));
      await writeFile(path, changed);
      const outcome = await open()
        .read()
        .then(
          () => 'read',
          (cause: { code?: string }) => cause.code,
        );
      if (outcome !== 'SECRETS_UNAVAILABLE') accepted.push(at);
    }
    expect(accepted).toEqual([]);
  });

  it('is refused when it ends early or late', async () => {
    const { path, open } = await stored({ a: 'hunter2' });
    const text = await readFile(path, 'utf8');
    const texts = [
      '',
      '\n',
      text.slice(0, 20),
      text.split('\n')[0] ?? '',
      text.slice(0, -1),
      text.slice(0, -5),
      `${text}\n`,
    ];
    for (const changed of [...texts, `${text}x`, `${text}${text}`, ` ${text}`]) {
      await writeFile(path, changed);
      const error = await open()
        .read()
        .then(() => 'read', String);
      expect(error).toMatch(/incomplete or damaged|was damaged|is not a file of encrypted secrets|damaged first line/);
      expect(error).not.toContain('hunter2');
    }
  });

  it.each([
    [{ N: 2 ** 40 }, /N: Too big/],
    [{ N: 262_144, r: 16 }, /asks for too much memory/],
    [{ N: 65_536, p: 16 }, /asks for too much time/],
    [{ N: 30_000 }, /N: expected a power of two/],
    [{ p: 100_000_000 }, /p: Too big/],
    [{ salt: 'AA==' }, /salt: expected 16 bytes/],
    [{ version: 2 }, /has version 2 of the format, and this toolmgr reads version 1: update toolmgr/],
    [{ kdf: 'none' }, /damaged first line/],
    [{ format: 'other' }, /is not a file of encrypted secrets/],
    [{ extra: true }, /damaged first line/],
  ])('is refused without much work when its header says %j', async (change, message) => {
    const { path, open } = await stored();
    const [line = '', ...rest] = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, [JSON.stringify({ ...JSON.parse(line), ...change }), ...rest].join('\n'));
    const before = process.cpuUsage(); // of all threads: a key is derived in another one
    await expect(open().read()).rejects.toThrow(message);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  it('tells a wrong password from a damaged file', async () => {
    const { path, open } = await stored({ a: '1' });
    await expect(open('wrong').read()).rejects.toThrow(/the password in TOOLMGR_SECRETS_PASSWORD is wrong/);
    const [line, data = ''] = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, `${line}\n${Buffer.alloc(Buffer.from(data, 'base64').length).toString('base64')}\n`);
    await expect(open().read()).rejects.toThrow(/was damaged or changed by another program/);
  });

  it('with rights for others gets mode 600 and a warning', async () => {
    const { path, open, warnings } = await stored({ a: '1' });
    await chmod(path, 0o644);
    expect((await open().read()).user.get('a')).toBe('1');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(warnings).toEqual([`${path} could be read or changed by other users (mode 644); it has mode 600 now`]);
  });
});

describe('a writer that is killed', () => {
  it('leaves the old or the new content at any moment, and no temporary file for long', async () => {
    const { path, folder, open } = await stored({ value: 'v0' });
    const seen = new Set<string>();
    for (let n = 0; n < 12; n++) {
      const child = spawn(process.execPath, ['--conditions=development', WRITER, path], {
        env: { ...process.env, TOOLMGR_SECRETS_PASSWORD: PASSWORD },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data'); // it writes without pause now
      await delay(n * 3);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const { user } = await open().read();
      expect(user.get('value')).toMatch(/^v\d+$/);
      expect(user.get('value')).toBe(user.get('copy') ?? 'v0');
      seen.add(user.get('value') ?? '');
    }
    expect(seen.size).toBeGreaterThan(1);
    await open().change(({ user }) => void user.set('last', '1'));
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

const WRITER = join(import.meta.dirname, 'endless-writer.ts');
