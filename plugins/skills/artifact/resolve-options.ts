import type { Problem, SkillLookup } from '@toolmgr/plugins/kit/operations';
import type { SkillArtifact } from './artifact.ts';

/** What reading a skill needs. */
export interface ResolveOptions {
  /** Tag of an OCI reference that has none. */
  readonly version?: string;
  readonly signal: AbortSignal;
  /** The user named this reference, and not another skill, a lock file or an agent. Default: no. */
  readonly isNamedByUser?: boolean;
  /** Without it, plain names are local builds only. */
  readonly lookUp?: SkillLookup;
  /** Folder of local builds. Default: `skillStoreFolder(env)`. */
  readonly store?: string;
  /** Allows private addresses, and plain http at loopback addresses. Default: no. */
  readonly allowPrivateAddresses?: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** A skill, or why there is none. */
export type SkillResolution = { readonly artifact: SkillArtifact } | Problem;
