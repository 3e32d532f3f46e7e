import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { environmentSecrets } from './environment-secrets.ts';

/** Secret source `environment`: the variables that the host gives, mostly those of its process. */
export default definePlugin({
  address: 'secrets/environment',
  stability: 'stable',
  summary: 'reads secrets from the environment variables of this process',
  config: z.strictObject({}),
  apply(core) {
    core.slots.secretSources.register('environment', environmentSecrets(core.environment));
  },
});
