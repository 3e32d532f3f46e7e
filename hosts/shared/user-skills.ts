import { join } from 'node:path';
import type { SkillHome } from '@toolmgr/plugins/kit/operations';
import { cacheDir } from '@toolmgr/plugins/registry';
import { readUserConfig } from './user-config.ts';

/** Folders and settings of the user for skills. */
export function skillHome(): SkillHome {
  return {
    pushSettings,
    cacheDir: join(cacheDir(process.env), 'sigstore'),
    async settings() {
      const {
        allow_private_registry_ip: allowPrivateAddresses = false,
        sigstore_trusted_root: trustedRootFile,
        skills: { public_keys: publicKeyFiles = [] } = {},
      } = await readUserConfig();
      return { allowPrivateAddresses, publicKeyFiles, ...(trustedRootFile === undefined ? {} : { trustedRootFile }) };
    },
  };
}

/** What pushing a skill reads from the settings. */
async function pushSettings(): ReturnType<SkillHome['pushSettings']> {
  const { allow_private_registry_ip: allowPrivateAddresses = false, skills = {} } = await readUserConfig();
  const { fulcio_url: fulcioUrl, rekor_url: rekorUrl } = skills;
  return {
    allowPrivateAddresses,
    ...(fulcioUrl === undefined ? {} : { fulcioUrl }),
    ...(rekorUrl === undefined ? {} : { rekorUrl }),
  };
}
