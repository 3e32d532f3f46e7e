import { type ClientPlace, PROBLEMS, type Problem } from '@toolmgr/plugins/kit/operations';
import type { SkillArtifact } from '../artifact/artifact.ts';
import type { ResolveOptions } from '../artifact/resolve-options.ts';
import type { SkillVerification } from '../signature/verify-skill.ts';
import type { SkillStore } from './change.ts';

/** What installing skills needs from outside. */
export interface SkillDeps extends SkillStore {
  /** Every known client. */
  clients(): Promise<readonly ClientPlace[]>;
  /** Reads a skill from its source. */
  resolve(
    reference: string,
    options: Pick<ResolveOptions, 'version' | 'signal' | 'isNamedByUser'>,
  ): Promise<{ readonly artifact: SkillArtifact } | Problem>;
  /** Checks the signatures of a skill. Never throws. */
  verify(artifact: SkillArtifact, signal: AbortSignal): Promise<SkillVerification>;
}

/** Why a skill was not installed, for programs. Source: reference workload-api §4.4. */
export const SKILL_REASONS = [
  'registry-unreachable',
  'digest-missing',
  'validation-rejected',
  'lock-write-failed',
  'signature-invalid',
  'signer-mismatch',
  'provenance-field-mismatch',
  'unsigned-rejected',
  'unknown',
] as const;

/** A value of {@link SKILL_REASONS}. */
export type SkillReason = (typeof SKILL_REASONS)[number];

/** A refusal and its reason for results with many skills. */
export interface Refused {
  readonly refused: Problem;
  readonly reason: SkillReason;
}

/** A refusal whose reason follows from its status. */
export function refusedBy(refused: Problem): Refused {
  return { refused, reason: REASONS[PROBLEMS[refused.problem].status] ?? 'unknown' };
}

const REASONS: Readonly<Record<number, SkillReason>> = {
  400: 'validation-rejected',
  404: 'digest-missing',
  409: 'validation-rejected',
  422: 'validation-rejected',
  429: 'registry-unreachable',
  502: 'registry-unreachable',
  504: 'registry-unreachable',
};
