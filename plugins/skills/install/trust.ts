import { problem } from '@toolmgr/plugins/kit/operations';
import { type LockedProvenance, type LockedSkill, lockedProvenance } from '../lock/locked-skill.ts';
import type { SkillVerification } from '../signature/verify-skill.ts';
import { type Refused, refusedBy, type SkillReason } from './skill-deps.ts';

/** What the lock file says about the signature of an accepted skill. */
export type Trust = { readonly provenance: LockedProvenance } | { readonly unsigned: true };

/** What a user accepted beyond the rule. */
export interface TrustRules {
  readonly allowUnsigned?: boolean;
  readonly allowSignerChange?: boolean;
}

const SIGNER = ['signerIdentity', 'certIssuer'] as const;
const CLAIMS = [...SIGNER, 'repositoryUri', 'repositoryRef', 'runnerEnvironment', 'sigstoreUrl'] as const;

/**
 * Decides about a signature, trust on first use: the first signer is written to the lock file, and another one later is refused
 * unless the user allows it. An unsigned skill needs `allowUnsigned` once; a skill that was signed must stay so.
 */
export function judgeSignature(
  name: string,
  found: SkillVerification,
  locked: Pick<LockedSkill, 'provenance' | 'unsigned'> | undefined,
  rules: TrustRules,
): Trust | Refused {
  const known = locked?.provenance?.provisional === true ? undefined : locked?.provenance;
  switch (found.kind) {
    case 'invalid':
      return refuse('signature-invalid', `the signature of ${name} is not valid: ${found.reason}`);
    case 'unavailable':
      return refusedBy(problem('upstream_failed', `the signature of ${name} cannot be checked: ${found.reason}`));
    case 'unsigned':
      if (known !== undefined && rules.allowSignerChange !== true)
        return refuse('unsigned-rejected', `${name} has no signature, and it was signed by ${shown(known)} before`);
      if (rules.allowUnsigned === true || locked?.unsigned === true || known !== undefined) return { unsigned: true };
      return refuse('unsigned-rejected', `${name} has no signature: allow_unsigned accepts it`);
    case 'signed':
      return judgeSigners(name, [found.signer, ...(found.signers ?? [])].map(lockedProvenance), known, rules);
  }
}

/** One of several signers is enough. Refusals are about the first one. */
function judgeSigners(
  name: string,
  signers: readonly LockedProvenance[],
  known: LockedProvenance | undefined,
  { allowSignerChange }: TrustRules,
): Trust | Refused {
  const [signer = {}] = signers;
  if (known === undefined) return { provenance: signer };
  const differences = signers.map((one) => CLAIMS.find((claim) => (known[claim] ?? '') !== (one[claim] ?? '')));
  // the same object: unknown members of the lock file stay
  if (differences.includes(undefined)) return { provenance: known };
  const other = differences[0] ?? 'signerIdentity';
  if (allowSignerChange === true) return { provenance: signer };
  if ((SIGNER as readonly string[]).includes(other))
    return refuse(
      'signer-mismatch',
      `${name} is signed by ${shown(signer)}, and it was signed by ${shown(known)} before`,
    );
  const [now, before] = [signer[other], known[other]].map((claim) => claim ?? 'none');
  return refuse('provenance-field-mismatch', `${name} was built with ${other} ${now}, and with ${before} before`);
}

function shown({ signerIdentity = 'an unknown signer', certIssuer }: LockedProvenance): string {
  return certIssuer === undefined ? signerIdentity : `${signerIdentity} (${certIssuer})`;
}

function refuse(reason: SkillReason, detail: string): Refused {
  return { refused: problem('signature_refused', detail), reason };
}
