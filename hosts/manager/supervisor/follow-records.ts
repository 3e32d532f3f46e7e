import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, type ProcessMark } from '@toolmgr/plugins/kit/files';
import {
  listWorkloadNames,
  readWorkload,
  WORKLOAD_FILES,
  type WorkloadRecord,
  workloadDir,
  workloadsDir,
} from '@toolmgr/plugins/kit/workloads';
import { watchFolder } from '../../shared/wake.ts';

/** A workload as it was last seen. */
export interface FollowedRecord {
  readonly record: WorkloadRecord;
  /** A command that changed its configuration has not finished. */
  readonly isChanging: boolean;
}

/** The records of a state folder, with as little reading as possible. */
export interface FollowedRecords {
  /** Reads what has changed: files, and processes that have ended or were replaced. */
  scan(): Promise<void>;
  /** Looks only at the processes, which costs no file. Resolves with true when one has ended. */
  look(): Promise<boolean>;
  readonly records: ReadonlyMap<string, FollowedRecord>;
}

/** Begins without records: the first {@link FollowedRecords.scan} reads them. */
export function followRecords(state: string): FollowedRecords {
  const records = new Map<string, FollowedRecord>();
  const versions = new Map<string, string>();

  const read = async (name: string, version: string, isChanging: boolean): Promise<void> => {
    const record = await readWorkload(state, name);
    if (record === undefined) return forget(name);
    records.set(name, { record, isChanging });
    versions.set(name, version);
  };
  const forget = (name: string): void => {
    records.delete(name);
    versions.delete(name);
  };

  return {
    records,
    async scan() {
      const names = await listWorkloadNames(state);
      const known = new Set(names);
      for (const name of [...records.keys()]) if (!known.has(name)) forget(name);
      for (const name of names) {
        const { version, isChanging } = await versionOf(state, name);
        const seen = records.get(name);
        if (seen === undefined || versions.get(name) !== version || (await wasReplaced(seen.record))) {
          await read(name, version, isChanging);
        }
      }
    },
    async look() {
      const ended = [...records].filter(([, { record }]) => hasEnded(record));
      for (const [name, { isChanging }] of ended) await read(name, versions.get(name) ?? '', isChanging);
      return ended.length > 0;
    },
  };
}

/**
 * Calls `onChange` when a record may have changed, until `signal` aborts. Changes in quick succession cause one call. False when the
 * file system reports none.
 */
export async function onRecordChange(state: string, onChange: () => void, signal: AbortSignal): Promise<boolean> {
  await mkdir(workloadsDir(state), { recursive: true, mode: 0o700 });
  let gathering: NodeJS.Timeout | undefined;
  const soon = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      onChange();
    }, GATHER_MS).unref();
  };
  const watch = watchFolder(workloadsDir(state), soon);
  const end = (): void => {
    clearTimeout(gathering);
    watch?.[Symbol.dispose]();
  };
  signal.addEventListener('abort', end, { once: true });
  return watch !== undefined;
}

const GATHER_MS = 200;

/** Whether a process of the record has ended. */
function hasEnded(record: WorkloadRecord): boolean {
  const { alive, heldBy, status } = record;
  return (alive && isGone(status.proxy)) || isGone(heldBy);
}

/** The same, also when another process has got the id. Elsewhere than on Linux it would cost a process for each record. */
async function wasReplaced(record: WorkloadRecord): Promise<boolean> {
  if (process.platform !== 'linux') return hasEnded(record);
  const { alive, heldBy, status } = record;
  const marks = [alive ? status.proxy : undefined, heldBy].filter((mark) => mark !== undefined);
  return (await Promise.all(marks.map(isRunning))).includes(false);
}

/** Whether no process has this id. Another one may have it: a scan compares the start times. */
function isGone(mark: ProcessMark | undefined): boolean {
  if (mark === undefined) return false;
  try {
    process.kill(mark.pid, 0);
    return false;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Changes with every change of a file: files are replaced, so each version has an inode of its own. */
async function versionOf(
  state: string,
  name: string,
): Promise<{ readonly version: string; readonly isChanging: boolean }> {
  const folder = workloadDir(state, name);
  const stamps = await Promise.all(
    [WORKLOAD_FILES.status, WORKLOAD_FILES.config, WORKLOAD_FILES.previousConfig].map(async (file) => {
      const found = await stat(join(folder, file)).catch(() => undefined);
      return found === undefined ? '' : `${found.ino}:${found.mtimeMs}:${found.size}`;
    }),
  );
  return { version: stamps.join(' '), isChanging: stamps[2] !== '' };
}
