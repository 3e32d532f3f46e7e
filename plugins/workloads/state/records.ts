import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite, syncFolder, writeSynced } from './atomic-write.ts';
import { withLock } from './lock.ts';
import {
  readWorkload,
  WORKLOAD_FILES,
  type WorkloadConfig,
  type WorkloadRecord,
  type WorkloadStatus,
  workloadDir,
  workloadsDir,
} from './workload-record.ts';

/** What a change of status says; the rest is kept or filled in. */
export type StatusChange = Omit<WorkloadStatus, 'format' | 'updatedAtMs'>;

/**
 * Puts a new workload on disk, stopped. `false` when the name is taken.
 *
 * It is made under another name and renamed, so it is there with both files or not at all.
 */
export async function createRecord(state: string, config: WorkloadConfig): Promise<boolean> {
  const folder = workloadsDir(state);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await sweepLeftovers(folder);
  const fresh = join(folder, `${NEW}${config.name}-${randomUUID()}`);
  await mkdir(fresh, { mode: 0o700 });
  try {
    await writeSynced(join(fresh, WORKLOAD_FILES.config), textOf(config));
    await writeSynced(join(fresh, WORKLOAD_FILES.status), textOf(dated({ status: 'stopped' })));
    await syncFolder(fresh);
    await rename(fresh, workloadDir(state, config.name));
  } catch (cause) {
    await rm(fresh, { recursive: true, force: true });
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw cause;
  }
  await syncFolder(folder);
  await announce(state);
  return true;
}

/**
 * Changes the status of a workload: `change` gets the record as it is now and says the whole new status, or
 * `undefined` to leave it. Resolves with the record after it; `undefined` when the workload is gone.
 */
export async function changeStatus(
  state: string,
  name: string,
  change: (now: WorkloadRecord) => StatusChange | undefined,
): Promise<WorkloadRecord | undefined> {
  return withLock(state, name, async () => {
    const now = await readWorkload(state, name);
    if (now === undefined) return undefined;
    const next = change(now);
    if (next === undefined) return now;
    await atomicWrite(join(workloadDir(state, name), WORKLOAD_FILES.status), textOf(dated(next)));
    await announce(state);
    return readWorkload(state, name);
  });
}

/**
 * Takes a workload away with its logs. `running` when its proxy lives: stop it first; `gone` when there was none.
 * One rename makes it invisible; what a kill leaves behind is swept later.
 */
export async function removeRecord(state: string, name: string): Promise<'removed' | 'running' | 'gone'> {
  return withLock(state, name, async () => {
    const now = await readWorkload(state, name);
    if (now === undefined) return 'gone';
    if (now.alive) return 'running';
    const passing = join(workloadsDir(state), `${GONE}${name}-${randomUUID()}`);
    await rename(workloadDir(state, name), passing);
    await syncFolder(workloadsDir(state));
    await announce(state);
    await rm(passing, { recursive: true, force: true });
    return 'removed';
  });
}

const NEW = '.new-';
const GONE = '.gone-';
const LEFTOVER_MS = 60_000; // nobody takes a minute to write two small files

/** Removes what killed writers left half-made or half-removed. */
async function sweepLeftovers(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(NEW) || name.startsWith(GONE));
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || Date.now() - found.mtimeMs < LEFTOVER_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
}

/** Touches a file in the watched folder: a change inside a workload's own folder does not wake its watchers. */
async function announce(state: string): Promise<void> {
  // a watcher that is not woken polls: no reason to fail a change that is on disk
  await writeFile(join(workloadsDir(state), '.changed'), `${Date.now()}\n`, { mode: 0o600 }).catch(() => {});
}

function dated(change: StatusChange): WorkloadStatus {
  return { format: 1, ...change, updatedAtMs: Date.now() };
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
