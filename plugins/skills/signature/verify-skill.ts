import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { explainCause, isObject } from '@toolmgr/core';
import {
  type FoundSignature,
  openRepository,
  parseImageReference,
  type SignatureVerifier,
  type TrustRootOptions,
} from '@toolmgr/plugins/kit/oci';
import type { SkillArtifact } from '../artifact/artifact.ts';
import { checkKeySignature, type TrustedKey } from './check-key-signature.ts';
import { keyFingerprint, SIGNATURE_PREDICATE } from './sign-digest.ts';

/** Who signed a skill. Absent claims are empty. */
export interface SkillSigner {
  /** Of the certificate: a workflow or an e-mail address. Of a key: `key:sha256:` and its fingerprint in hex. */
  readonly identity: string;
  readonly issuer: string;
  readonly repositoryUri: string;
  readonly repositoryRef: string;
  readonly runnerEnvironment: string;
  readonly sigstoreUrl: string;
}

/**
 * `signed`: `signer` made the first good signature, `signers` made all of them (absent: only this one). `invalid`: there are signatures, and none is good.
 * `unavailable`: the signatures or the trust root could not be read.
 */
export type SkillVerification =
  | { readonly kind: 'signed'; readonly signer: SkillSigner; readonly signers?: readonly SkillSigner[] }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'invalid' | 'unavailable'; readonly reason: string };

/** What a verification needs. */
export interface VerifySkillOptions extends TrustRootOptions {
  readonly signal: AbortSignal;
  readonly signatures: SignatureVerifier;
  /** PEM files of public keys that may sign. */
  readonly publicKeyFiles?: readonly string[];
  readonly allowPrivateAddresses?: boolean;
  readonly env: NodeJS.ProcessEnv;
}

const TOTAL_MS = 60_000;

/** Reads the signatures of a skill and checks them by Sigstore. Git references and local builds have none. Never throws. */
export async function verifySkill(artifact: SkillArtifact, options: VerifySkillOptions): Promise<SkillVerification> {
  const image = artifact.kind === 'oci' ? parseImageReference(artifact.resolvedReference) : undefined;
  if (image === undefined) return { kind: 'unsigned' };
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TOTAL_MS)]);
  const found: FoundSignature[] = [];
  try {
    await using repository = openRepository(image.registry, image.repository, {
      allowPrivateAddresses: options.allowPrivateAddresses === true,
      signal,
      env: options.env,
    });
    const manifest = await repository.manifest(artifact.digest);
    if (manifest === undefined) return { kind: 'unavailable', reason: 'its registry no longer has it' };
    for await (const each of options.signatures.find(repository, manifest)) found.push(each);
  } catch (cause) {
    return { kind: 'unavailable', reason: `its signatures could not be read: ${explainCause(cause)}` };
  }
  return found.length === 0 ? { kind: 'unsigned' } : checkAll(found, artifact.digest, options);
}

async function checkAll(
  found: readonly FoundSignature[],
  digest: string,
  options: VerifySkillOptions,
): Promise<SkillVerification> {
  const signers: SkillSigner[] = [];
  const reasons: string[] = [];
  let opened: Awaited<ReturnType<SignatureVerifier['openCheck']>> | undefined;
  let missing: string | undefined;
  const keys = await trustedKeys(options.publicKeyFiles ?? []);
  if (typeof keys === 'string') return { kind: 'unavailable', reason: keys };
  for (const each of found) {
    if (isByKey(each.bundle)) {
      const checked = checkKeySignature(each, digest, keys);
      if ('fingerprint' in checked) signers.push({ ...NO_CLAIMS, identity: `key:sha256:${checked.fingerprint}` });
      else reasons.push(checked.reason);
      continue;
    }
    try {
      opened ??= await options.signatures.openCheck(options);
    } catch (cause) {
      missing ??= `the trust root of its signatures is not available: ${explainCause(cause)}`;
      continue;
    }
    // another statement about the artifact, such as a list of its contents, is no signature
    const isStatement = isObject(each.bundle) && each.bundle.dsseEnvelope !== undefined;
    const checked = opened.check(
      each,
      digest,
      isStatement ? { attestation: { predicate_type: SIGNATURE_PREDICATE } } : {},
    );
    if ('claims' in checked) signers.push({ ...checked.claims, sigstoreUrl: opened.rootUrl });
    else reasons.push(checked.reason);
  }
  const [signer] = signers;
  if (signer !== undefined) return { kind: 'signed', signer, signers };
  if (missing !== undefined) return { kind: 'unavailable', reason: missing };
  return { kind: 'invalid', reason: reasons[0] ?? 'its signature cannot be read' };
}

const NO_CLAIMS = { issuer: '', repositoryUri: '', repositoryRef: '', runnerEnvironment: '', sigstoreUrl: '' };

function isByKey(bundle: unknown): boolean {
  const { verificationMaterial } = isObject(bundle) ? bundle : {};
  return isObject(verificationMaterial) && verificationMaterial.publicKey !== undefined;
}

async function trustedKeys(files: readonly string[]): Promise<readonly TrustedKey[] | string> {
  const keys: TrustedKey[] = [];
  for (const file of files) {
    try {
      const key = createPublicKey(await readFile(file, 'utf8'));
      keys.push({ key, fingerprint: keyFingerprint(key) });
    } catch (cause) {
      return `the public key ${file} cannot be read: ${explainCause(cause)}`;
    }
  }
  return keys;
}
