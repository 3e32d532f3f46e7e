import type { SignatureVerifier } from '@toolmgr/plugins/kit/oci';
import type { FindClients } from '@toolmgr/plugins/kit/operations';
import type { ResolveOptions } from '../artifact/resolve-options.ts';
import { resolveSkill } from '../artifact/resolve-skill.ts';
import type { VerifySkillOptions } from '../signature/verify-skill.ts';
import type { SkillDeps } from './skill-deps.ts';
import { stateGroups } from './state-groups.ts';

/** Where skills are read from and installed to. */
export interface OpenSkills extends Pick<ResolveOptions, 'store' | 'lookUp'> {
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder for the downloaded trust root of Sigstore. */
  readonly cacheDir: string;
  readonly clients: FindClients;
  /** What verifies signatures; `undefined` when nothing does. */
  signatures(): Promise<SignatureVerifier | undefined>;
  /** Settings of the user at that moment. */
  settings(): Promise<
    Pick<ResolveOptions, 'allowPrivateAddresses'> & Pick<VerifySkillOptions, 'trustedRootFile' | 'publicKeyFiles'>
  >;
}

/** Skills of this machine: real clients, real sources. Reads nothing until it is used. */
export function openSkills({ state, env, cacheDir, clients, signatures, settings, ...sources }: OpenSkills): SkillDeps {
  return {
    state,
    groups: stateGroups(state),
    clients,
    async resolve(reference, asked) {
      const { allowPrivateAddresses = false } = await settings();
      return resolveSkill(reference, {
        ...sources,
        ...{ env, allowPrivateAddresses },
        ...asked,
      });
    },
    async verify(artifact, signal) {
      const verifier = await signatures();
      if (verifier === undefined) return { kind: 'unavailable', reason: 'no plugin verifies signatures' };
      // loads Sigstore
      const { verifySkill } = await import('../signature/verify-skill.ts');
      return verifySkill(artifact, { ...(await settings()), signatures: verifier, env, cacheDir, signal });
    },
  };
}
