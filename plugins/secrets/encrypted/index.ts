import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { askHidden, isAskable } from './ask-hidden.ts';
import { encryptedFile } from './encrypted-file.ts';
import { encryptedSecrets } from './encrypted-secrets.ts';
import { secretsPath } from './secrets-path.ts';
import { unlocker } from './unlock.ts';

/** Secret source `encrypted`: the secrets that `toolmgr secret set` stored. */
export default definePlugin({
  address: 'secrets/encrypted',
  stability: 'alpha',
  summary: 'reads secrets from the encrypted file of toolmgr secret',
  config: z.strictObject({
    file: z
      .string()
      .min(1)
      .optional()
      .describe('path of the file; default: toolmgr/secrets_encrypted in the XDG data folder'),
  }),
  apply(core, { file }) {
    const path = file ?? secretsPath(core.environment);
    const ask = isAskable() ? { ask: askHidden } : {};
    const unlock = unlocker({ path, env: core.environment, ...ask });
    const warn = (line: string): void => core.log.warn(line);
    core.slots.secretSources.register('encrypted', encryptedSecrets(encryptedFile({ path, unlock, warn })));
  },
});
