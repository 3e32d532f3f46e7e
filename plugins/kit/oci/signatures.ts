import { defineSlot } from '@toolmgr/core';
import type { OciClient, OciManifest } from './oci-client.ts';

/**
 * Who must have signed an image. An absent member is not checked.
 *
 * Source: HTTP API spec §2 "Provenance"; reference run-command §6.
 */
export interface Provenance {
  /** Host or URL of the TUF repository with the trust root. */
  readonly sigstore_url?: string | undefined;
  readonly repository_uri?: string | undefined;
  readonly repository_ref?: string | undefined;
  readonly signer_identity?: string | undefined;
  readonly runner_environment?: string | undefined;
  readonly cert_issuer?: string | undefined;
  readonly attestation?: { readonly predicate_type?: string | undefined; readonly predicate?: unknown } | undefined;
}

/** A signature of an image: a Sigstore bundle as JSON, and for signatures of a text that text. */
export interface FoundSignature {
  readonly bundle: unknown;
  /** What is signed, unless the bundle has it: the manifest, or the text that names its digest. */
  readonly signed?: Buffer;
  /** `signed` names the image in the form of cosign's simple signing. */
  readonly isSimpleSigning?: boolean;
}

/** Who signed, from the certificate of a signature. */
export interface CertificateClaims {
  /** Subject alternative name: the workflow of a build, or an e-mail address. */
  readonly identity: string;
  readonly issuer: string;
  readonly repositoryUri: string;
  readonly repositoryRef: string;
  readonly runnerEnvironment: string;
}

/** Who signed, or why a signature does not count. */
export type SignatureCheck = { readonly claims: CertificateClaims } | { readonly reason: string };

/** Where the trust root of signatures comes from. */
export interface TrustRootOptions {
  /** A `trusted_root.json` that the user chose; nothing is downloaded then. */
  readonly trustedRootFile?: string;
  /** Folder for the downloaded root. */
  readonly cacheDir: string;
}

/** A check of signatures against one trust root. */
export type CheckSignature = (found: FoundSignature, digest: string, wanted: Provenance) => SignatureCheck;

/** Reads and checks signatures of artifacts in registries of images. */
export interface SignatureVerifier {
  /** @throws GatewayFault when the registry does not answer */
  find(client: OciClient, artifact: OciManifest): AsyncIterable<FoundSignature>;
  /** `rootUrl`: where the root is from; empty for a file. @throws Error that says why there is no trust root */
  openCheck(options: TrustRootOptions): Promise<{ readonly check: CheckSignature; readonly rootUrl: string }>;
}

/** What verifies signatures; loaded when there is one to verify. */
export const signatureVerifiers = defineSlot<() => Promise<SignatureVerifier>>('signatureVerifiers');
