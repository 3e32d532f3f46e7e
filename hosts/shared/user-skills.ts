import { homedir } from 'node:os';
import { join } from 'node:path';
import { problem } from '@toolmgr/plugins/management';
import { cacheDir, type Registries } from '@toolmgr/plugins/registry';
import { type OpenSkills, openSkills, type PushOptions, type SkillDeps } from '@toolmgr/plugins/skills';
import { readUserConfig } from './user-config.ts';

/** The skills of the user: the commands and the manager use the same. Reads nothing until it is used. */
export function userSkills(
  state: string,
  env: Readonly<Record<string, string | undefined>>,
  registries: Pick<Registries, 'configured' | 'load'>,
): SkillDeps {
  return openSkills({
    state,
    env,
    home: homedir(),
    cacheDir: join(cacheDir(), 'sigstore'),
    lookUp: skillLookup(registries),
    async settings() {
      const {
        allow_private_registry_ip: allowPrivateAddresses = false,
        sigstore_trusted_root: trustedRootFile,
        skills: { public_keys: publicKeyFiles = [] } = {},
      } = await readUserConfig();
      return { allowPrivateAddresses, publicKeyFiles, ...(trustedRootFile === undefined ? {} : { trustedRootFile }) };
    },
  });
}

/** Finds skills by their name in all registries of the user. */
function skillLookup(registries: Pick<Registries, 'configured' | 'load'>): NonNullable<OpenSkills['lookUp']> {
  return async ({ namespace, name }, signal) => {
    const loaded = await registries.load({ signal });
    if ('problem' in loaded) return problem('upstream_failed', loaded.problem);
    const mayBePrivate = (await registries.configured()).filter(
      ({ allowPrivateAddresses, source }) => allowPrivateAddresses || source.type === 'file',
    );
    return loaded.registry.skills
      .filter((skill) => skill.name === name && (namespace === undefined || skill.namespace === namespace))
      .map(({ packages = [], version, ...skill }) => ({
        namespace: skill.namespace,
        name: skill.name,
        ...(version === undefined ? {} : { version }),
        allowsPrivateAddresses: mayBePrivate.some(
          (each) => each.name === loaded.registry.sourceOfSkill(`${skill.namespace}/${skill.name}`),
        ),
        packages: packages.flatMap(({ registryType, ...rest }) =>
          registryType === undefined ? [] : [{ registryType, ...withoutAbsent(rest) }],
        ),
      }));
  };
}

function withoutAbsent<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never;
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
