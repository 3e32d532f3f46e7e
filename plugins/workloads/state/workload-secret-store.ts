import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@toolmgr/core';
import { atomicWrite } from './atomic-write.ts';
import { withLock } from './lock.ts';
import { WORKLOAD_FILES, workloadDir } from './workload-record.ts';

/** The secrets of one workload by name. Changes are atomic, also between processes. */
export interface WorkloadSecretStore {
  /** The value; `undefined` when there is none. */
  read(name: string): Promise<string | undefined>;
  /** @throws Error of the file system; the old value is unchanged */
  write(name: string, value: string): Promise<void>;
  /** Does nothing when there is no such secret. */
  remove(name: string): Promise<void>;
}

/** The secrets of a workload, in `secrets.json` beside its `run.json`, mode 0600. */
export function workloadSecretStore(state: string, workload: string): WorkloadSecretStore {
  const change = (alter: (secrets: Map<string, string>) => boolean): Promise<void> =>
    withLock(state, workload, async () => {
      const secrets = new Map(Object.entries(await readWorkloadSecrets(state, workload)));
      if (!alter(secrets)) return;
      const text = JSON.stringify(Object.fromEntries(secrets), undefined, 2);
      await atomicWrite(secretsFile(state, workload), `${text}\n`);
    });
  return {
    async read(name) {
      const secrets = await readWorkloadSecrets(state, workload);
      return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
    },
    write: (name, value) =>
      change((secrets) => {
        if (secrets.get(name) === value) return false;
        secrets.set(name, value);
        return true;
      }),
    remove: (name) => change((secrets) => secrets.delete(name)),
  };
}

/** All secrets of a workload by name; none when it has no file of them. */
export async function readWorkloadSecrets(state: string, workload: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(secretsFile(state, workload), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return '{}';
    throw cause;
  });
  const read: unknown = JSON.parse(text);
  if (!isObject(read)) return {};
  return Object.fromEntries(
    Object.entries(read).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function secretsFile(state: string, workload: string): string {
  return join(workloadDir(state, workload), WORKLOAD_FILES.secrets);
}
