import { isDeepStrictEqual } from 'node:util';
import { bundleFromJSON, isBundleWithDsseEnvelope } from '@sigstore/bundle';
import type { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { isObject, type JsonObject } from '@toolmgr/core';
import type { CheckSignature, Provenance } from '@toolmgr/plugins/kit/oci';
import { claimsOf } from './certificate-claims.ts';
import { provenanceMismatch } from './match-provenance.ts';

/** Makes the check of signatures against a trust root. Every kind of log that the root has is required. */
export function signatureChecker(root: TrustedRoot): CheckSignature {
  const verifier = new Verifier(toTrustMaterial(root), {
    tlogThreshold: root.tlogs.length > 0 ? 1 : 0,
    ctlogThreshold: root.ctlogs.length > 0 ? 1 : 0,
    timestampThreshold: 1,
  });
  return ({ bundle: given, signed, isSimpleSigning = false }, digest, wanted) => {
    try {
      const bundle = bundleFromJSON(given);
      const signer = verifier.verify(toSignedEntity(bundle, signed));
      const problem = isBundleWithDsseEnvelope(bundle)
        ? statementProblem(bundle.content.dsseEnvelope, digest, wanted)
        : isSimpleSigning
          ? simpleSigningProblem(signed ?? Buffer.alloc(0), digest)
          : attestationProblem(wanted);
      if (problem !== undefined) return { reason: problem };
      const claims = claimsOf(signer);
      const mismatch = provenanceMismatch(wanted, claims);
      return mismatch === undefined ? { claims } : { reason: mismatch };
    } catch (cause) {
      return { reason: explain(cause) };
    }
  };
}

/** An in-toto statement must name the image. Source: in-toto attestation framework, Statement v1. */
function statementProblem(
  { payload, payloadType }: { readonly payload: Buffer; readonly payloadType: string },
  digest: string,
  wanted: Provenance,
): string | undefined {
  if (payloadType !== 'application/vnd.in-toto+json')
    return `its signature is of the type ${JSON.stringify(payloadType)}`;
  const statement = objectIn(payload);
  const subjects = Array.isArray(statement?.subject) ? statement.subject : [];
  const isNamed = subjects.some(
    (each) => isObject(each) && isObject(each.digest) && `sha256:${each.digest.sha256}` === digest,
  );
  if (!isNamed) return 'its signature is of another image';
  const { predicate_type: type, predicate } = wanted.attestation ?? {};
  if (type !== undefined && type !== statement?.predicateType) {
    return `its attestation is of the type ${JSON.stringify(statement?.predicateType)}, but the registry says ${JSON.stringify(type)}`;
  }
  if (predicate !== undefined && !isDeepStrictEqual(predicate, statement?.predicate)) {
    return 'its attestation has another predicate than the registry says';
  }
  return undefined;
}

/** Source: cosign, signature specification ("simple signing"). */
function simpleSigningProblem(payload: Buffer, digest: string): string | undefined {
  const critical = objectIn(payload)?.critical;
  const image = isObject(critical) && isObject(critical.image) ? critical.image : {};
  return image['docker-manifest-digest'] === digest ? undefined : 'its signature is of another image';
}

/** A plain signature is no attestation. */
function attestationProblem({ attestation }: Provenance): string | undefined {
  return attestation?.predicate_type === undefined
    ? undefined
    : 'it has no attestation of the type that the registry names';
}

function objectIn(bytes: Buffer): JsonObject | undefined {
  const value: unknown = JSON.parse(bytes.toString('utf8'));
  return isObject(value) ? value : undefined;
}

/** The codes of @sigstore/verify as sentences. */
const MEANINGS: Readonly<Record<string, string>> = {
  SIGNATURE_ERROR: 'its signature does not fit what was signed',
  CERTIFICATE_ERROR: 'the certificate of its signature is not of the trust root',
  PUBLIC_KEY_ERROR: 'it is signed with a key, not with a certificate',
  TLOG_ERROR: 'its signature is not in a transparency log of the trust root',
  TLOG_INCLUSION_PROOF_ERROR: 'the transparency log does not prove its signature',
  TLOG_INCLUSION_PROMISE_ERROR: 'the transparency log does not prove its signature',
  TLOG_BODY_ERROR: 'the transparency log has another signature',
  TIMESTAMP_ERROR: 'the time of its signature is not proven',
};

function explain(cause: unknown): string {
  const code = (cause as { readonly code?: unknown }).code;
  const meaning = typeof code === 'string' ? MEANINGS[code] : undefined;
  const message = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
  return meaning === undefined ? `its signature cannot be read (${message})` : `${meaning} (${message})`;
}
