import { decodeObject, isObject } from '@toolmgr/core';
import { digestOf, type OciClient } from '@toolmgr/plugins/kit/oci';
import { MEDIA_TYPES } from './media-types.ts';
import type { PackedArtifact } from './pack-artifact.ts';

/** Pushes an artifact: its blobs, its manifests, then its index under the tag. @throws GatewayFault */
export async function pushArtifact(client: OciClient, tag: string, artifact: PackedArtifact): Promise<void> {
  for (const { bytes } of artifact.blobs) await client.pushBlob(bytes);
  for (const { bytes, digest } of artifact.manifests) await client.pushManifest(digest, bytes, MEDIA_TYPES.manifest);
  await client.pushManifest(tag, artifact.index.bytes, MEDIA_TYPES.index);
}

const BUNDLE_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const EMPTY_TYPE = 'application/vnd.oci.empty.v1+json';
const EMPTY = Buffer.from('{}');

/**
 * Stores a signature as a manifest that refers to the artifact. A registry without the referrers API gets the list under the tag
 * `sha256-HEX`.
 *
 * Source: OCI distribution specification 1.1, "Pushing manifests with subject" and "Referrers tag schema".
 * @throws GatewayFault
 */
export async function pushSignature(client: OciClient, { index }: PackedArtifact, bundle: Buffer): Promise<void> {
  await client.pushBlob(EMPTY);
  await client.pushBlob(bundle);
  const subject = { mediaType: MEDIA_TYPES.index, digest: index.digest, size: index.bytes.length };
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MEDIA_TYPES.manifest,
      artifactType: BUNDLE_TYPE,
      config: { mediaType: EMPTY_TYPE, digest: digestOf(EMPTY), size: EMPTY.length },
      layers: [{ mediaType: BUNDLE_TYPE, digest: digestOf(bundle), size: bundle.length }],
      subject,
    }),
  );
  const digest = digestOf(manifest);
  const { listsSubject } = await client.pushManifest(digest, manifest, MEDIA_TYPES.manifest);
  // some registries with the API do not say so in their answer
  if (listsSubject || (await client.referrers(index.digest))?.some((each) => each.digest === digest)) return;
  const tag = index.digest.replace(':', '-');
  const descriptor = { mediaType: MEDIA_TYPES.manifest, artifactType: BUNDLE_TYPE, digest, size: manifest.length };
  const others = manifestsIn((await client.manifest(tag))?.bytes).filter((each) => each.digest !== digest);
  const list = { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests: [...others, descriptor] };
  await client.pushManifest(tag, Buffer.from(JSON.stringify(list)), MEDIA_TYPES.index);
}

function manifestsIn(bytes: Buffer | undefined): readonly Readonly<Record<string, unknown>>[] {
  const { manifests } = (bytes === undefined ? undefined : decodeObject(bytes)) ?? {};
  return Array.isArray(manifests) ? manifests.filter(isObject) : [];
}
