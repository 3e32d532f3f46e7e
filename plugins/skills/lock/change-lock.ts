import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { explainCause } from '@toolmgr/core';
import { atomicWrite } from '../../workloads/state/atomic-write.ts';
import { withFileLock } from '../../workloads/state/lock.ts';
import { holdFolder } from '../folders/held-folder.ts';
import { changedLock, LOCK_FILE, readLock } from './lock-file.ts';
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
 * Changes entries of a project's lock file, under a lock beside it. An entry that is not as `before` was changed by another
 * program: it is an error, or with `onlyUnchanged` it stays.
 * @throws LockWriteFailed naming the file; the old file is unchanged
 */
export async function changeLock(
  root: string,
  steps: readonly LockStep[],
  { onlyUnchanged = false, removesEmpty = false } = {},
): Promise<void> {
  if (steps.length === 0) return;
  const path = join(root, LOCK_FILE);
  try {
    const held = await holdFolder({ base: root, segments: [] }, { create: false });
    if (held === undefined) {
      // a project that was removed meanwhile
      if (onlyUnchanged) return;
      throw new LockWriteFailed(`${root} does not exist`);
    }
    const file = join(held.path, LOCK_FILE);
    await withFileLock(file, async () => {
      const now = await readLock(root, file);
      if ('problem' in now) throw new LockWriteFailed(now.problem);
      const entryOf = (name: string) => now.skills.find((entry) => entry.name === name);
      const open = steps.filter(({ name, before }) => isDeepStrictEqual(plain(entryOf(name)), plain(before)));
      if (!onlyUnchanged && open.length < steps.length)
        throw new LockWriteFailed(`${path} was changed by another program at the same time: try again`);
      const changes = new Map(open.map(({ name, after }) => [name, after] as const));
      if (changes.size === 0) return;
      const left = now.skills.filter(({ name }) => !changes.has(name)).length;
      const isEmpty = left === 0 && open.every(({ after }) => after === undefined);
      if (removesEmpty && isEmpty) return rm(file, { force: true });
      await atomicWrite(file, changedLock(now, changes), LOCK_MODE);
    }).finally(() => held.close());
  } catch (cause) {
    if (cause instanceof LockWriteFailed) throw cause;
    throw new LockWriteFailed(`${path} cannot be written: ${explainCause(cause)}`);
  }
}

/** Without members that are `undefined`, as after reading it again. */
function plain(entry: LockedSkill | undefined): unknown {
  return entry === undefined ? undefined : JSON.parse(JSON.stringify(entry));
}
