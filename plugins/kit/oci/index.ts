/** A client of OCI registries, and the slot of what checks signatures of images. */
export { type ImageReference, imageByDigest, isImageReference, parseImageReference } from './image-reference.ts';
export { digestOf, type OciClient, type OciManifest, type OciReader, openRepository } from './oci-client.ts';
export { RegistryFault } from './registry-fault.ts';
export {
  type CertificateClaims,
  type CheckSignature,
  type FoundSignature,
  type Provenance,
  type SignatureVerifier,
  signatureVerifiers,
  type TrustRootOptions,
} from './signatures.ts';
