import type { SignatureVerifier } from '@toolmgr/plugins/kit/oci';
import { signatureChecker } from './check-signature.ts';
import { findSignatures } from './find-signatures.ts';
import { PUBLIC_GOOD, readTrustRoot } from './trust-root.ts';

/** Verification by Sigstore of what is in registries of images. */
export const signatureVerifier: SignatureVerifier = {
  find: findSignatures,
  async openCheck(options) {
    const check = signatureChecker(await readTrustRoot(undefined, options));
    return { check, rootUrl: options.trustedRootFile === undefined ? PUBLIC_GOOD : '' };
  },
};
