import { definePlugin, type Plugin } from '@toolmgr/core';
import { environmentSecrets } from '@toolmgr/plugins';
import { z } from 'zod';

/** Secrets by name. */
export type Secrets = Readonly<Record<string, string>>;

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
