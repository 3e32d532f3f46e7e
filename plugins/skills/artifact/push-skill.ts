import { openRepository, parseImageReference } from '@toolmgr/plugins/kit/oci';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { LIMITS } from '../limits.ts';
import { openBuildStore, skillStoreFolder } from '../oci/build-store.ts';
import { pushArtifact, pushSignature } from '../oci/push-artifact.ts';
import { type SigningChoice, type SigningOptions, signDigest } from '../signature/sign-digest.ts';
import { upstreamProblem } from './upstream-problem.ts';

/** What a push needs. */
export interface PushOptions extends SigningOptions {
  /** Folder of local builds. Default: `skillStoreFolder(env)`. */
  readonly store?: string;
  readonly signal: AbortSignal;
  readonly allowPrivateAddresses?: boolean;
}

/** A pushed skill. */
export interface PushedSkill {
  /** The reference by digest. */
  readonly reference: string;
  readonly isSigned: boolean;
}

/**
 * Pushes the local build with this tag, which is a complete OCI reference, and signs it. The signature is made before anything
 * is pushed.
 *
 * Refusals: `bad_request`, `not_found` (no such build), and those of the registry and of Sigstore.
 * Source: reference workload-api §2.4, §5.2.
 */
export async function pushSkill(
  reference: string,
  signing: SigningChoice,
  options: PushOptions,
): Promise<PushedSkill | Problem> {
  const shown = JSON.stringify(reference.slice(0, LIMITS.referenceLength));
  const image = reference.includes('/') ? parseImageReference(reference) : undefined;
  if (image === undefined || image.digest !== undefined)
    return problem('bad_request', `The reference ${shown} is not valid: expected registry/namespace/name:tag.`);
  const store = openBuildStore(options.store ?? skillStoreFolder(options.env));
  const artifact = await store.artifact(reference);
  if (artifact === undefined)
    return problem('not_found', `There is no local build with the tag ${shown}: build it with this tag first.`);
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(LIMITS.pullMs)]);
  const { registry, repository: path, tag = 'latest' } = image;
  const { digest } = artifact.index;
  const bundle = await signDigest(digest, signing, { ...options, signal });
  if (bundle !== undefined && 'problem' in bundle) return bundle;
  try {
    await using repository = openRepository(registry, path, {
      allowPrivateAddresses: options.allowPrivateAddresses === true,
      pushes: true,
      signal,
      env: options.env,
    });
    await pushArtifact(repository, tag, artifact);
    if (bundle !== undefined) await pushSignature(repository, artifact, bundle);
    return { reference: `${registry}/${path}@${digest}`, isSigned: bundle !== undefined };
  } catch (cause) {
    return upstreamProblem(`The skill ${shown} could not be pushed`, cause, signal);
  }
}
