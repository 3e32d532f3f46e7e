import { access, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { explainCause } from '@toolmgr/core';
import { atomicWrite, removeTemporaries, withFileLock } from '@toolmgr/plugins/kit/files';
import { holdFolder } from '../folders/held-folder.ts';
import { changedLock, LOCK_FILE, parseLock, type ReadLock, readLock } from './lock-file.ts';
import type { LockedSkill } from './locked-skill.ts';

/** One entry before and after a change; absent: no entry. */
export interface LockStep {
  readonly name: string;
  readonly before?: LockedSkill;
  readonly after?: LockedSkill;
}

/** The lock file could not be read or written. */
export class LockWriteFailed extends Error {
  override readonly name = 'LockWriteFailed';
}

const LOCK_MODE = 0o644; // it is committed, and others of the project read it

/**
 * Changes entries of a project's lock file, under a lock beside it.
 * @throws LockWriteFailed naming the file, also when an entry is not as `before`; the old file is unchanged
 */
export function changeLock(root: string, steps: readonly LockStep[]): Promise<void> {
  return withLockFile(root, async (now, file) => {
    if (!steps.every((step) => isAs(now, step.name, step.before)))
      throw new LockWriteFailed(`${join(root, LOCK_FILE)} was changed by another program at the same time: try again`);
    if (steps.length > 0) await atomicWrite(file, changedLock(now, changesOf(steps)), LOCK_MODE);
  });
}

/**
 * Reverts {@link changeLock}: the file gets its earlier text, or is removed when `text` is `undefined`. When another program changed
 * it since, only entries that are still as `after` are reverted.
 */
export async function revertLock(root: string, steps: readonly LockStep[], text: string | undefined): Promise<void> {
  // the folder of a removed project
  if (steps.length === 0 || !(await isFolder(root))) return;
  await withLockFile(root, async (now, file) => {
    await removeTemporaries(dirname(file), `.${LOCK_FILE}-`);
    const earlier = parseLock(text, LOCK_FILE);
    if ('problem' in earlier) throw new LockWriteFailed(earlier.problem);
    if (now.text === changedLock(earlier, changesOf(steps)))
      return text === undefined ? rm(file, { force: true }) : atomicWrite(file, text, LOCK_MODE);
    const open = steps.filter((step) => isAs(now, step.name, step.after) && !isAs(now, step.name, step.before));
    if (open.length === 0) return undefined;
    const back = new Map(open.map(({ name, before }) => [name, before] as const));
    return atomicWrite(file, changedLock(now, back), LOCK_MODE);
  });
}

type UsableLock = Exclude<ReadLock, { readonly problem: string }>;

async function withLockFile(root: string, use: (now: UsableLock, file: string) => Promise<void>): Promise<void> {
  try {
    const held = await holdFolder({ base: root, segments: [] }, { create: false });
    if (held === undefined) throw new LockWriteFailed(`${root} does not exist`);
    const file = join(held.path, LOCK_FILE);
    await withFileLock(file, async () => {
      const now = await readLock(root, file);
      if ('problem' in now) throw new LockWriteFailed(now.problem);
      await use(now, file);
    }).finally(() => held.close());
  } catch (cause) {
    if (cause instanceof LockWriteFailed) throw cause;
    throw new LockWriteFailed(`${join(root, LOCK_FILE)} cannot be written: ${explainCause(cause)}`);
  }
}

function changesOf(steps: readonly LockStep[]): ReadonlyMap<string, LockedSkill | undefined> {
  return new Map(steps.map(({ name, after }) => [name, after] as const));
}

function isAs(now: UsableLock, name: string, entry: LockedSkill | undefined): boolean {
  return isDeepStrictEqual(plain(now.skills.find((one) => one.name === name)), plain(entry));
}

function isFolder(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Without members that are `undefined`, as after reading it again. */
function plain(entry: LockedSkill | undefined): unknown {
  return entry === undefined ? undefined : JSON.parse(JSON.stringify(entry));
}
