import { z } from 'zod';
import { isSkillName, SKILL_NAME_RULE } from '../artifact/skill-name.ts';
import type { SkillSigner } from '../signature/verify-skill.ts';

/** Maximum characters of a reference in the lock file. Source: reference workload-api §5.6. */
export const MAX_REFERENCE_CHARS = 512;

const skillName = z.string().refine(isSkillName, { error: `expected ${SKILL_NAME_RULE}` });
const reference = z
  .string()
  .min(1)
  .max(MAX_REFERENCE_CHARS)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  .regex(/^[^\u0000-\u0020\u007f]+$/, { error: 'expected a reference without blanks and control characters' });
const text = z.string().max(2_048);

/** Who signed a skill, as the lock file has it. */
const provenance = z.looseObject({
  signerIdentity: text.optional(),
  certIssuer: text.optional(),
  repositoryUri: text.optional(),
  repositoryRef: text.optional(),
  runnerEnvironment: text.optional(),
  sigstoreUrl: text.optional(),
  /** The signer is not confirmed: the next verified signature replaces it. */
  provisional: z.boolean().optional(),
});

/** One entry of `skills` in the lock file. Unknown members are kept. Source: reference workload-api §5.6. */
export const lockedSkill = z
  .looseObject({
    name: skillName,
    version: text.optional(),
    /** What the user asked for. An upgrade reads it again. */
    source: reference,
    resolvedReference: reference,
    digest: z.string().regex(/^(sha256:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{64})$/, {
      error: 'expected sha256: and 64 hex digits, or a commit of 40 or 64 hex digits',
    }),
    contentDigest: z.string().regex(/^sha256:[0-9a-f]{64}$/, { error: 'expected sha256: and 64 hex digits' }),
    provenance: provenance.optional(),
    unsigned: z.boolean().optional(),
    /** Absent: false. */
    explicit: z.boolean().optional(),
    requiredBy: z.array(skillName).max(1_000).optional(),
  })
  .refine((given) => !(given.unsigned === true && given.provenance !== undefined), {
    error: 'provenance and unsigned exclude each other',
  });

/** One entry of the lock file. */
export type LockedSkill = z.output<typeof lockedSkill>;

/** Who signed, as the lock file has it. */
export type LockedProvenance = z.output<typeof provenance>;

/** The entry for a signer. Empty claims are left out. */
export function lockedProvenance(signer: SkillSigner): LockedProvenance {
  const claims = {
    signerIdentity: signer.identity,
    certIssuer: signer.issuer,
    repositoryUri: signer.repositoryUri,
    repositoryRef: signer.repositoryRef,
    runnerEnvironment: signer.runnerEnvironment,
    sigstoreUrl: signer.sigstoreUrl,
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== ''));
}

/** Why the entries do not fit together; `undefined` when they do. Pure. */
export function graphProblem(entries: readonly LockedSkill[]): string | undefined {
  const parents = new Map<string, readonly string[]>();
  for (const { name, requiredBy = [] } of entries) {
    if (parents.has(name)) return `${name} is a duplicate`;
    parents.set(name, requiredBy);
  }
  for (const [name, names] of parents) {
    const missing = names.find((parent) => !parents.has(parent));
    if (missing !== undefined) return `${name} is required by ${missing}, which has no entry`;
  }
  const circle = findCircle(parents);
  return circle === undefined ? undefined : `${circle.join(' is required by ')}`;
}

/** Names of a circle, the first one also at the end. Without recursion: the graph comes from a file. */
function findCircle(parents: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  for (const start of parents.keys()) {
    const trail: { readonly name: string; next: number }[] = [{ name: start, next: 0 }];
    const onTrail = new Set([start]);
    for (let top = trail.at(-1); top !== undefined && !done.has(start); top = trail.at(-1)) {
      const parent = parents.get(top.name)?.[top.next++];
      if (parent === undefined) {
        done.add(top.name);
        onTrail.delete(top.name);
        trail.pop();
      } else if (onTrail.has(parent)) {
        const names = trail.map(({ name }) => name);
        return [...names.slice(names.indexOf(parent)), parent];
      } else if (!done.has(parent)) {
        trail.push({ name: parent, next: 0 });
        onTrail.add(parent);
      }
    }
  }
  return undefined;
}
