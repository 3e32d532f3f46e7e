// Verification of container images by Sigstore. Hosts load it when an image is verified.

export { type ImageVerification, type VerifyOptions, verifyImage } from './verify-image.ts';
