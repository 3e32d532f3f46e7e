import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { atomicWrite, syncFolder, writeSynced } from '../../files/atomic-write.ts';
import { withLock } from '../../files/lock.ts';
import { whenAbsent } from '../../files/when-absent.ts';
import type { RunConfig } from './run-config/run-config.ts';
import {
  desiredOf,
  readWorkload,
  WORKLOAD_FILES,
  type WorkloadProcess,
  type WorkloadRecord,
  type WorkloadStatus,
  workloadDir,
  workloadsDir,
} from './workload-record.ts';
import type { WorkloadSecretsFile } from './workload-secret-store.ts';

/** The new status; other members are added. `generation` and `desired` stay as they are when they are not given. */
export type StatusChange = Omit<WorkloadStatus, 'format' | 'updatedAtMs' | 'id'>;

/**
 * Creates the record of a stopped workload. `false` when the name exists.
 *
 * It is created under a temporary name and renamed, so it always has both files. `id` tells it from a later workload of the
 * same name.
 */
export async function createRecord(
  state: string,
  config: RunConfig,
  secrets: WorkloadSecretsFile = {},
  id = randomUUID(),
): Promise<boolean> {
  const folder = workloadsDir(state);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await sweepLeftovers(folder);
  const fresh = join(folder, `${NEW}${config.name}-${randomUUID()}`);
  await mkdir(fresh, { mode: 0o700 });
  try {
    await writeSynced(join(fresh, WORKLOAD_FILES.config), textOf(config));
    if (Object.keys(secrets).length > 0) await writeSynced(join(fresh, WORKLOAD_FILES.secrets), textOf(secrets));
    // greater than that of every start of a removed workload with this name, whose proxy may still be about to claim it
    const generation = Date.now();
    await writeSynced(join(fresh, WORKLOAD_FILES.status), textOf(dated({ status: 'stopped', id, generation })));
    await syncFolder(fresh);
    await rename(fresh, workloadDir(state, config.name));
  } catch (cause) {
    await rm(fresh, { recursive: true, force: true });
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw cause;
  }
  await syncFolder(folder);
  await notifyWatchers(state);
  return true;
}

/**
 * Changes the status of a workload: `change` gets the current record and returns the complete new status, or `undefined` for no
 * change. Resolves with the new record; `undefined` when the workload does not exist.
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
    const { id, generation } = now.status;
    const kept = {
      desired: desiredOf(now.status),
      ...(id === undefined ? {} : { id }),
      ...(generation === undefined ? {} : { generation }),
    };
    const status = dated({ ...kept, ...next });
    const folder = workloadDir(state, name);
    if (status.proxy !== undefined && !isDeepStrictEqual(processOf(status), processOf(now.status)))
      await writeAlways(join(folder, WORKLOAD_FILES.process), textOf(processOf(status)));
    await writeAlways(join(folder, WORKLOAD_FILES.status), textOf(status));
    await notifyWatchers(state);
    return readWorkload(state, name);
  });
}

function processOf({ format, proxy, id, generation, runId, port }: WorkloadStatus): WorkloadProcess {
  return JSON.parse(JSON.stringify({ format, proxy, id, generation, runId, port })); // without members that are undefined
}

/** Replaces a file; on a full disk its old content is overwritten in place, so that a workload can be stopped. */
async function writeAlways(path: string, text: string): Promise<void> {
  try {
    await atomicWrite(path, text);
  } catch (cause) {
    if (!FULL.has((cause as NodeJS.ErrnoException).code)) throw cause;
    await overwrite(path, text, cause);
  }
}

const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

async function overwrite(path: string, text: string, full: unknown): Promise<void> {
  const file = await open(path, 'r+').catch(() => {
    throw full;
  });
  try {
    const { size } = await file.stat();
    // one write of a few hundred bytes, and no shorter file: JSON may end with blanks
    await file.write(text.padEnd(size), 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Changes the configuration of a workload. `false` when it does not exist or cannot be read.
 * @throws Error of the file system; the old configuration is unchanged
 */
export async function changeConfig(
  state: string,
  name: string,
  change: (now: RunConfig) => RunConfig,
): Promise<boolean> {
  return withLock(state, name, async () => {
    const now = await readWorkload(state, name);
    if (now?.config === undefined) return false;
    await writeConfig(state, change(now.config));
    return true;
  });
}

/** Writes the configuration of a workload whose lock the caller has. */
export async function writeConfig(state: string, config: RunConfig): Promise<void> {
  await atomicWrite(join(workloadDir(state, config.name), WORKLOAD_FILES.config), textOf(config));
  await notifyWatchers(state);
}

/**
 * Removes a workload with its logs. `running` when its proxy runs: stop it first; `gone` when it does not exist, or when
 * `id` is given and the record of this name is another one. A rename hides it atomically; leftovers of a killed process are
 * removed later.
 */
export async function removeRecord(state: string, name: string, id?: string): Promise<'removed' | 'running' | 'gone'> {
  return withLock(state, name, async () => {
    const now = await readWorkload(state, name);
    if (now === undefined || (id !== undefined && now.status.id !== id)) return 'gone';
    if (now.alive) return 'running';
    const temporary = join(workloadsDir(state), `${GONE}${name}-${randomUUID()}`);
    await rename(workloadDir(state, name), temporary);
    await syncFolder(workloadsDir(state));
    await notifyWatchers(state);
    await rm(temporary, { recursive: true, force: true });
    return 'removed';
  });
}

const NEW = '.new-';
const GONE = '.gone-';
const LEFTOVER_MS = 60_000; // far longer than writing two small files takes

/**
 * Removes the incomplete folders that killed processes left. Resolves with their number.
 */
export async function removeLeftFolders(state: string): Promise<number> {
  return sweepLeftovers(workloadsDir(state));
}

async function sweepLeftovers(folder: string): Promise<number> {
  const names = await readdir(folder).catch(whenAbsent([]));
  const old = await Promise.all(
    names
      .filter((name) => name.startsWith(NEW) || name.startsWith(GONE))
      .map(async (name) => ({ path: join(folder, name), isOld: await isOld(join(folder, name)) })),
  );
  const left = old.filter((entry) => entry.isOld);
  for (const { path } of left) await rm(path, { recursive: true, force: true });
  return left.length;
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs >= LEFTOVER_MS;
}

/** Touches a file in the watched folder, because changes in a workload's folder cause no event there. */
async function notifyWatchers(state: string): Promise<void> {
  // ignores errors: watchers also poll
  await writeFile(join(workloadsDir(state), '.changed'), `${Date.now()}\n`, { mode: 0o600 }).catch(() => {});
}

function dated(change: Omit<WorkloadStatus, 'format' | 'updatedAtMs'>): WorkloadStatus {
  return { format: 1, ...change, updatedAtMs: Date.now() };
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
