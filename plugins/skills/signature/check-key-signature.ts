import type { KeyObject } from 'node:crypto';
import { bundleFromJSON, isBundleWithDsseEnvelope } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { decodeObject, isObject } from '@toolmgr/core';
import type { FoundSignature } from '@toolmgr/plugins/kit/oci';
import { SIGNATURE_PREDICATE } from './sign-digest.ts';

/** A public key that may sign. */
export interface TrustedKey {
  readonly key: KeyObject;
  readonly fingerprint: string;
}

/** Checks a signature by a key: with which key it was made, or why it does not count. */
export function checkKeySignature(
  { bundle: given }: FoundSignature,
  digest: string,
  keys: readonly TrustedKey[],
): { readonly fingerprint: string } | { readonly reason: string } {
  if (keys.length === 0) return { reason: 'it is signed with a key, and no public key is trusted' };
  try {
    const bundle = bundleFromJSON(given);
    if (!isBundleWithDsseEnvelope(bundle)) return { reason: 'it is signed with a key in a form that is not read' };
    const { payload, payloadType } = bundle.content.dsseEnvelope;
    const found = keys.find(({ key }) => isSignedBy(given, key));
    if (found === undefined) return { reason: 'it is signed with a key that is not trusted' };
    return payloadType === 'application/vnd.in-toto+json' && isStatementOf(payload, digest)
      ? { fingerprint: found.fingerprint }
      : { reason: 'its signature is of another artifact' };
  } catch {
    return { reason: 'its signature cannot be read' };
  }
}

const NO_ROOT = TrustedRoot.fromJSON({ mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1' });

function isSignedBy(given: unknown, publicKey: KeyObject): boolean {
  const material = toTrustMaterial(NO_ROOT, () => ({ publicKey, validFor: () => true }));
  const verifier = new Verifier(material, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
  try {
    verifier.verify(toSignedEntity(bundleFromJSON(given)));
    return true;
  } catch {
    return false;
  }
}

function isStatementOf(payload: Buffer, digest: string): boolean {
  const { subject, predicateType } = decodeObject(payload) ?? {};
  const subjects = Array.isArray(subject) ? subject.filter(isObject) : [];
  return (
    predicateType === SIGNATURE_PREDICATE &&
    subjects.some((each) => isObject(each.digest) && `sha256:${each.digest.sha256}` === digest)
  );
}
