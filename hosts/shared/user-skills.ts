import { homedir } from 'node:os';
import { join } from 'node:path';
import { skillPlaces, userPlace } from '@toolmgr/plugins/clients';
import { cacheDir, type Registries, skillLookup } from '@toolmgr/plugins/registry';
import { openSkills, type PushOptions, type SkillDeps, type SkillHome } from '@toolmgr/plugins/skills';
import { readUserConfig } from './user-config.ts';

/** The skills of the user, for commands. Reads nothing until it is used. */
export function userSkills(
  state: string,
  env: Readonly<Record<string, string | undefined>>,
  registries: Pick<Registries, 'configured' | 'load'>,
): SkillDeps {
  return openSkills({
    ...{ state, env, ...skillHome() },
    clients: () => skillPlaces(userPlace(env, process.platform, homedir())),
    // loads Sigstore
    signatures: async () => (await import('@toolmgr/plugins/image-verification')).signatureVerifier,
    lookUp: skillLookup(registries),
  });
}

/** Folders and settings of the user for skills. */
export function skillHome(): SkillHome {
  return {
    pushSettings,
    cacheDir: join(cacheDir(), 'sigstore'),
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
export async function pushSettings(): Promise<Pick<PushOptions, 'allowPrivateAddresses' | 'fulcioUrl' | 'rekorUrl'>> {
  const { allow_private_registry_ip: allowPrivateAddresses = false, skills = {} } = await readUserConfig();
  const { fulcio_url: fulcioUrl, rekor_url: rekorUrl } = skills;
  return {
    allowPrivateAddresses,
    ...(fulcioUrl === undefined ? {} : { fulcioUrl }),
    ...(rekorUrl === undefined ? {} : { rekorUrl }),
  };
}
