import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRunningNow } from '../../files/process-identity.ts';
import { workloadName } from './workload-name.ts';
import {
  readWrittenWorkload,
  recordOf,
  WORKLOAD_FILES,
  type WorkloadRecord,
  type WrittenWorkload,
  workloadsDir,
} from './workload-record.ts';

/** Reads all workloads of a state folder again and again. */
export interface RecordReader {
  /** All workloads as they are on disk when this is called or later, sorted by name. */
  read(): Promise<readonly WorkloadRecord[]>;
}

interface Cached {
  readonly config: string;
  readonly status: string;
  readonly written: WrittenWorkload;
}

/**
 * A reader that parses a file only when it is another one than at the last time. Writers replace files, so inode, time and size tell.
 * Whether processes run is asked each time. Readers at the same time share one pass; a pass lets other work of this process run
 * in between.
 */
export function recordReader(state: string): RecordReader {
  const cache = new Map<string, Cached>();
  let running: Promise<readonly WorkloadRecord[]> | undefined;
  let next: Promise<readonly WorkloadRecord[]> | undefined;

  const pass = async (): Promise<readonly WorkloadRecord[]> => {
    const names = namesIn(workloadsDir(state));
    const known = new Set(names);
    for (const name of cache.keys()) if (!known.has(name)) cache.delete(name);
    const records: WorkloadRecord[] = [];
    let turn = performance.now();
    for (const name of names) {
      const record = await readOne(name);
      if (record !== undefined) records.push(record);
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
    return records;
  };

  const readOne = async (name: string): Promise<WorkloadRecord | undefined> => {
    const folder = join(workloadsDir(state), name);
    const config = versionOf(join(folder, WORKLOAD_FILES.config));
    const status = versionOf(join(folder, WORKLOAD_FILES.status));
    const cached = cache.get(name);
    if (cached !== undefined && config !== undefined && cached.config === config && cached.status === status) {
      return recordOf(name, cached.written, isRunningNow);
    }
    const written = await readWrittenWorkload(state, name);
    // a file that was just written may change again within the resolution of its time
    if (written === undefined || config === undefined || status === undefined) cache.delete(name);
    else cache.set(name, { config, status, written });
    return written && recordOf(name, written, isRunningNow);
  };

  const begin = (): Promise<readonly WorkloadRecord[]> => {
    const started = pass().finally(() => {
      if (running === started) running = undefined;
    });
    running = started;
    return started;
  };

  return {
    read() {
      if (running === undefined) return begin();
      // the pass that runs may have read a file before it changed
      next ??= running
        .catch(() => undefined)
        .then(() => {
          next = undefined;
          return begin();
        });
      return next;
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => workloadName.safeParse(name).success)
      .sort();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cause;
  }
}

/** What tells a file from the one that replaces it; `undefined` when it is too young to tell, or does not exist. */
function versionOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || Math.abs(Date.now() - found.ctimeMs) < YOUNG_MS) return undefined;
  return `${found.ino}:${found.ctimeMs}:${found.size}`;
}

const YOUNG_MS = 50; // file systems count time in steps of some milliseconds
const TURN_MS = 4;
