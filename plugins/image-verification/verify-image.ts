import { explainCause } from '@toolmgr/core';
import {
  type OciManifest,
  openRepository,
  type Provenance,
  parseImageReference,
  type TrustRootOptions,
} from '@toolmgr/plugins/kit/oci';
import { signatureChecker } from './check-signature.ts';
import { findSignatures } from './find-signatures.ts';
import { namesSigner } from './match-provenance.ts';
import { readTrustRoot } from './trust-root.ts';

/** How an image is verified. */
export interface VerifyOptions extends TrustRootOptions {
  /** Allows private addresses of image registries, and plain http at loopback addresses. */
  readonly allowPrivateAddresses: boolean;
  readonly signal?: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
}

/** The digest of a verified image and who signed it, or why it is not verified. */
export type ImageVerification =
  | { readonly kind: 'verified'; readonly digest: string; readonly signer: string }
  | { readonly kind: 'unverified'; readonly reason: string };

const TOTAL_MS = 60_000;

/**
 * Checks that the signer whom a registry names has signed an image. The tag is resolved once: run the returned digest, and not the tag.
 *
 * Never throws: what prevents the check is the reason.
 * Source: reference run-command §6.
 */
export async function verifyImage(
  image: string,
  provenance: Provenance | undefined,
  options: VerifyOptions,
): Promise<ImageVerification> {
  const unverified = (reason: string): ImageVerification => ({ kind: 'unverified', reason });
  if (provenance === undefined || !namesSigner(provenance)) {
    return unverified('there is no provenance information about it in the registry');
  }
  const reference = parseImageReference(image);
  if (reference === undefined) return unverified('it is not a container image');
  const late = AbortSignal.timeout(TOTAL_MS);
  const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
  await using repository = openRepository(reference.registry, reference.repository, { ...options, signal });
  let manifest: OciManifest | undefined;
  try {
    manifest = await repository.manifest(reference.digest ?? reference.tag ?? 'latest');
  } catch (cause) {
    return unverified(`its digest could not be resolved: ${explainCause(cause)}`);
  }
  if (manifest === undefined) return unverified('its registry does not have it');
  let check: ReturnType<typeof signatureChecker>;
  try {
    check = signatureChecker(await readTrustRoot(provenance.sigstore_url, options));
  } catch (cause) {
    return unverified(`the trust root of its signatures is not available: ${explainCause(cause)}`);
  }
  const reasons: string[] = [];
  try {
    for await (const signature of findSignatures(repository, manifest)) {
      const checked = check(signature, manifest.digest, provenance);
      if ('claims' in checked) return { kind: 'verified', digest: manifest.digest, signer: checked.claims.identity };
      reasons.push(checked.reason);
    }
  } catch (cause) {
    return unverified(`its signatures could not be read: ${explainCause(cause)}`);
  }
  return unverified(reasons[0] ?? 'it is not signed');
}
