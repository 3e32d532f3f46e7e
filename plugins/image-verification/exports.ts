// Verification of container images by Sigstore. Hosts load it when an image is verified.

export { signatureVerifier } from './signature-verifier.ts';
export { verifyImage } from './verify-image.ts';
