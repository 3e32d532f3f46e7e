import { type Problem, problem } from '../../shared/management/index.ts';
import type { SkillArtifact } from './artifact.ts';

/** A skill of a registry, as far as it says where its artifact is. */
export interface RegistrySkill {
  readonly namespace: string;
  readonly name: string;
  readonly version?: string;
  readonly packages: readonly {
    readonly registryType: string;
    readonly identifier?: string;
    readonly digest?: string;
    readonly url?: string;
    readonly ref?: string;
    readonly commit?: string;
    readonly subfolder?: string;
  }[];
}

/** Skills of the registries with a name: of one namespace, or of all. */
export type SkillLookup = (
  wanted: { readonly namespace?: string; readonly name: string },
  signal: AbortSignal,
) => Promise<readonly RegistrySkill[] | Problem>;

/** What reading a skill needs. */
export interface ResolveOptions {
  /** Tag of an OCI reference that has none. */
  readonly version?: string;
  readonly signal: AbortSignal;
  /** Without it, plain names are local builds only. */
  readonly lookUp?: SkillLookup;
  /** Folder of local builds. Default: `skillStoreFolder(env)`. */
  readonly store?: string;
  /** Allows private addresses, and plain http at loopback addresses. Default: no. */
  readonly allowPrivateAddresses?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Reads a skill: a git reference, an OCI reference, a tag of a local build, or a name in a registry. Nothing is installed.
 *
 * Refusals: `bad_request`, `upstream_unauthorized`, `not_found`, `conflict` (several skills with the name), `unprocessable` (the
 * artifact is not a valid skill), `upstream_rate_limited`, `upstream_failed`, `upstream_timeout`.
 * Source: reference workload-api §5.3, §5.4.
 */
export async function resolveSkill(
  reference: string,
  _options: ResolveOptions,
): Promise<{ readonly artifact: SkillArtifact } | Problem> {
  return problem('not_found', `There is no skill ${JSON.stringify(reference)}.`);
}
