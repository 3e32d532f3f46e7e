import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STALE_MS, withFileLock } from '../../../../plugins/workloads/state/lock.ts';
import { storageFault } from '../../../../plugins/workloads/state/storage-fault.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolmgr-lock-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the lock of a file', () => {
  it('takes the lock of a killed process although the clock was set back since', { timeout: 40_000 }, async () => {
    const path = join(folder, 'one');
    await mkdir(`${path}.lock`);
    const inAnHour = new Date(Date.now() + 3_600_000);
    await utimes(`${path}.lock`, inAnHour, inAnHour);
    expect(await withFileLock(path, async () => 'changed')).toBe('changed');
  });

  it('leaves a lock of the future to a process that still refreshes it', { timeout: 60_000 }, async () => {
    const path = join(folder, 'one');
    await mkdir(`${path}.lock`);
    const refresh = (): Promise<void> => {
      const ahead = new Date(Date.now() + 3_600_000);
      return utimes(`${path}.lock`, ahead, ahead);
    };
    await refresh();
    const timer = setInterval(() => void refresh(), STALE_MS / 10);
    try {
      await expect(withFileLock(path, async () => 'changed')).rejects.toMatchObject({ code: 'ELOCKED' });
    } finally {
      clearInterval(timer);
    }
  });
});

it('refuses at once where no lock can be written', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  const began = performance.now();
  await expect(withFileLock(join(file, 'one'), async () => 'changed')).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(performance.now() - began).toBeLessThan(10_000);
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
