import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileLock, withLock } from '@toolmgr/plugins/kit/files';
import {
  createGroup,
  createRecord,
  readGroup,
  readWorkload,
  readWorkloadSecrets,
  storageFault,
} from '@toolmgr/plugins/kit/workloads';
import { createEncryptedFile, encryptedFile, newHeader, unlocker } from '@toolmgr/plugins/secrets';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLock } from '../../../../plugins/skills/lock/lock-file.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

const HOLDER = join(import.meta.dirname, 'lock-holder.ts');
const WRITER = join(import.meta.dirname, 'store-writer.ts');
const OPTIONS = ['--conditions=development'];

let folder: string;
let path: string;

beforeEach(async () => {
  folder = temporaryFolder('lock');
  path = join(folder, 'one');
  await writeFile(path, 'first');
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const children: ChildProcess[] = [];

const KINDS = {
  file: (change: () => Promise<unknown>, waitMs?: number) =>
    withFileLock(path, change, waitMs === undefined ? {} : { waitMs }),
  name: (change: () => Promise<unknown>, waitMs?: number) =>
    withLock(folder, 'one', change, waitMs === undefined ? {} : { waitMs }),
} as const;

async function holderOf(kind: string): Promise<ChildProcess> {
  const holder = fork(HOLDER, [kind, path], { execArgv: OPTIONS });
  children.push(holder);
  await once(holder, 'message');
  return holder;
}

describe('the lock of a file in a folder of others', () => {
  proves(
    'ask.run.state-lock',
    'follows no symbolic link: the mode of its target stays, and nothing is created',
    async () => {
      await chmod(path, 0o600);
      for (const target of [path, join(folder, 'absent')]) {
        await symlink(target, `${path}.mutex`);
        await expect(withFileLock(path, async () => 'changed')).rejects.toThrow('one.mutex is a symbolic link');
        expect((await stat(path)).mode & 0o777).toBe(0o600);
        expect(await readdir(folder)).toEqual(['one', 'one.mutex']);
        await rm(`${path}.mutex`);
      }
    },
  );

  proves('ask.run.state-lock', 'opens no file as a database that is not empty, and no pipe', async () => {
    await writeFile(`${path}.mutex`, 'SQLite format 3\0');
    await expect(withFileLock(path, async () => 'changed')).rejects.toThrow('one.mutex is not an empty file');
    await rm(`${path}.mutex`);
    execFileSync('mkfifo', [`${path}.mutex`]);
    await expect(withFileLock(path, async () => 'changed')).rejects.toThrow(/one\.mutex/);
  });
});

describe.each(['file', 'name'] as const)('the lock of a %s', (kind) => {
  const locked = KINDS[kind];
  const append = async (): Promise<void> => writeFile(path, `${await readFile(path, 'utf8')}, mine`);

  proves('ask.run.state-lock', `stays with a process that is suspended (${kind})`, async () => {
    const holder = await holderOf(kind);
    holder.kill('SIGSTOP');
    const waiting = locked(append);
    const error = await locked(append, 300).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'ELOCKED' });
    expect(String(error)).toContain(
      kind === 'name' ? `process ${holder.pid} (lock-holder.ts name)` : 'another process',
    );
    holder.kill('SIGCONT');
    holder.send('its');
    await waiting;
    expect(await readFile(path, 'utf8')).toBe('its, mine');
  });

  proves('ask.run.state-lock', `is free at once when its process is killed (${kind})`, async () => {
    const holder = await holderOf(kind);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await locked(append, 1_000);
    expect(await readFile(path, 'utf8')).toBe('first, mine');
  });

  it('is given to one caller of a process at a time', async () => {
    let inside = 0;
    const seen = await Promise.all(
      Array.from({ length: 20 }, () =>
        locked(async () => {
          const others = inside++;
          await readFile(path);
          inside--;
          return others;
        }),
      ),
    );
    expect(seen).toEqual(Array(20).fill(0));
  });

  it('is free after a change that failed, and for those behind a caller that gave up', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const failed = expect(locked(() => promise.then(() => Promise.reject(new Error('no'))))).rejects.toThrow('no');
    const gaveUp = locked(async () => {}, 20);
    const next = locked(append);
    await expect(gaveUp).rejects.toMatchObject({ code: 'ELOCKED' });
    resolve();
    await Promise.all([failed, next]);
    expect(await readFile(path, 'utf8')).toBe('first, mine');
  });
});

proves('ask.run.state-lock', 'no store loses what it said it stored', async () => {
  const secrets = join(folder, 'secrets_encrypted');
  await createEncryptedFile(secrets, await newHeader('correct horse', { N: 1024, r: 8, p: 1 }));
  await createRecord(folder, workloadConfigOf('one'));
  await createGroup(folder, 'team');
  await mkdir(join(folder, 'project'));
  const writers = Array.from({ length: WRITERS }, (_, n) => {
    const writer = spawn(process.execPath, [...OPTIONS, WRITER, folder, `w${n}`, '3'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(writer);
    const lines: string[] = [];
    writer.stdout.on('data', (text: Buffer) => void lines.push(...text.toString().trim().split('\n')));
    return { writer, lines, ended: once(writer, 'close') };
  });
  // each is suspended, continued or killed as it stores: at another place of its work each time
  for (const [n, { writer, lines }] of writers.entries()) {
    await until(() => lines.length > 0);
    writer.kill('SIGSTOP');
    writer.kill(n % 3 === 0 ? 'SIGKILL' : 'SIGCONT');
  }
  for (const { ended } of writers) await ended;
  const said = writers.flatMap(({ lines }) => lines);
  const unlock = unlocker({ path: secrets, env: { TOOLMGR_SECRETS_PASSWORD: 'correct horse' } });
  const { user } = await encryptedFile({ path: secrets, unlock }).read();
  const locks = await readLock(join(folder, 'project'));
  const kept: Readonly<Record<string, readonly string[]>> = {
    configuration: Object.keys((await readWorkload(folder, 'one'))?.config?.env_vars ?? {}),
    group: (await readGroup(folder, 'team'))?.skills ?? [],
    secret: [...user.keys()],
    workloadSecret: Object.keys(await readWorkloadSecrets(folder, 'one')),
    lockFile: 'problem' in locks ? [] : locks.skills.map(({ name }) => name),
  };
  const lost = said.filter((line) => {
    const [store = '', name = ''] = line.split(' ');
    return kept[store]?.includes(name) !== true;
  });
  expect(lost).toEqual([]);
  expect(said.length).toBeGreaterThan(WRITERS * 3);
  expect((await readdir(join(folder, 'project'))).filter((name) => !name.endsWith('.mutex'))).toEqual([
    'toolmgr.lock.yaml',
  ]);
});

const WRITERS = 5;

it('leaves nothing beside a file', async () => {
  await withFileLock(path, async () => {});
  expect(await readdir(folder)).toEqual(['one']);
});

it('refuses at once where no lock can be written', async () => {
  await expect(withFileLock(join(path, 'two'), async () => 'changed')).rejects.toMatchObject({ code: 'ENOTDIR' });
  await mkdir(join(folder, 'locks', 'two.mutex'), { recursive: true });
  await expect(withLock(folder, 'two', async () => 'changed')).rejects.toMatchObject({ code: 'EISDIR' });
});

describe('faults of the disk', () => {
  const fault = (code: string, path?: string): Error =>
    Object.assign(new Error(`${code}: reason`), { code, syscall: 'write', ...(path === undefined ? {} : { path }) });

  it.each([
    [fault('ENOSPC'), 'the disk is full (ENOSPC: reason)'],
    [new Error('outer', { cause: fault('EROFS', '/state/x') }), 'the file system is read-only (EROFS: reason)'],
    [fault('EACCES', '/state/x'), 'a file or folder is not accessible (EACCES: reason)'],
    [fault('EACCES'), undefined],
    [fault('ENOENT', '/state/x'), undefined],
    ['a text', undefined],
  ])('names what the user must change: %s', (cause, said) => {
    expect(storageFault(cause)).toBe(said);
  });
});
