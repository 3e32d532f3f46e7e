// Verification of container images by Sigstore. Hosts load it when an image is verified.

export { signatureVerifier } from './signature-verifier.ts';
export { type ImageVerification, type VerifyOptions, verifyImage } from './verify-image.ts';
