import { CLIENT_TYPES, installedClients, projectSkillFolder, userPlace, userSkillFolder } from '../../clients/index.ts';
import type { ResolveOptions } from '../artifact/resolve-options.ts';
import { resolveSkill } from '../artifact/resolve-skill.ts';
import type { VerifySkillOptions } from '../signature/verify-skill.ts';
import type { SkillDeps } from './skill-deps.ts';
import { stateGroups } from './state-groups.ts';
import type { SkillClient } from './targets.ts';

/** Where skills are read from and installed to. */
export interface OpenSkills extends Pick<ResolveOptions, 'store' | 'lookUp'> {
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user, where the environment does not say it. */
  readonly home: string;
  /** Folder for the downloaded trust root of Sigstore. */
  readonly cacheDir: string;
  /** Settings of the user at that moment. */
  settings(): Promise<
    Pick<ResolveOptions, 'allowPrivateAddresses'> & Pick<VerifySkillOptions, 'trustedRootFile' | 'publicKeyFiles'>
  >;
}

/** Skills of this machine: real clients, real sources. Reads nothing until it is used. */
export function openSkills({ state, env, home, cacheDir, settings, ...sources }: OpenSkills): SkillDeps {
  return {
    state,
    groups: stateGroups(state),
    clients: () => skillClients(env, home),
    async resolve(reference, asked) {
      const { allowPrivateAddresses = false } = await settings();
      return resolveSkill(reference, {
        ...sources,
        ...{ env, allowPrivateAddresses },
        ...asked,
      });
    },
    async verify(artifact, signal) {
      // 20 MB of Sigstore, which a manager that verifies nothing does not need
      const { verifySkill } = await import('../signature/verify-skill.ts');
      return verifySkill(artifact, { ...(await settings()), env, cacheDir, signal });
    },
  };
}

async function skillClients(env: OpenSkills['env'], home: string): Promise<readonly SkillClient[]> {
  const place = userPlace(env, process.platform, home);
  const installed = new Set(await installedClients(CLIENT_TYPES, place));
  return CLIENT_TYPES.map((name): SkillClient => {
    const [userFolder, projectFolder] = [userSkillFolder(name, place), projectSkillFolder(name)];
    return {
      name,
      isInstalled: installed.has(name),
      ...(userFolder === undefined ? {} : { userFolder }),
      ...(projectFolder === undefined ? {} : { projectFolder }),
    };
  });
}
