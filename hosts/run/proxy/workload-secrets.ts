import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, isObject, type Plugin } from '@toolmgr/core';
import { environmentSecrets } from '@toolmgr/plugins';
import { WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/workloads/state';
import { z } from 'zod';

/** Secrets by name. */
export type Secrets = Readonly<Record<string, string>>;

/** The secrets of a workload, kept beside its `run.json`; none when it has no such file. */
export async function readWorkloadSecrets(state: string, name: string): Promise<Secrets> {
  const path = join(workloadDir(state, name), WORKLOAD_FILES.secrets);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return '{}';
    throw cause;
  });
  const read: unknown = JSON.parse(text);
  if (!isObject(read)) return {};
  return Object.fromEntries(
    Object.entries(read).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** Takes the place of `secrets/environment` in the proxy of a workload: its own secrets, then variables. */
export function workloadSecrets(secrets: Secrets): Plugin {
  const variables = environmentSecrets(process.env);
  return definePlugin({
    address: 'secrets/environment',
    summary: 'reads the secrets of a workload',
    config: z.strictObject({}),
    apply(core) {
      core.slots.secretSources.register('environment', {
        read: async (name, signal) =>
          Object.hasOwn(secrets, name) ? (secrets[name] ?? '') : variables.read(name, signal),
      });
    },
  });
}
