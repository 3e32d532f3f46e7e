import { isObject } from '@toolmgr/core';
import type { OciManifest, OciReader } from '@toolmgr/plugins/kit/oci';
import type { SkillFile } from '../artifact/artifact.ts';
import { LIMITS } from '../limits.ts';
import { MEDIA_TYPES } from './media-types.ts';
import { unpackLayer } from './unpack-layer.ts';

/** The files of an artifact, or why it is not usable. */
export type ArtifactReading =
  | { readonly digest: string; readonly files: readonly SkillFile[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable'; readonly reason: string };

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads an artifact by tag or digest: an index, or one manifest. What is read by digest has this digest.
 *
 * Source: reference workload-api §5.2.
 * @throws GatewayFault of the reader; the reason of `signal`
 */
export async function readArtifact(
  reader: OciReader,
  reference: string,
  signal: AbortSignal,
): Promise<ArtifactReading> {
  const root = await reader.manifest(reference);
  if (root === undefined) return { kind: 'missing' };
  const chosen = await platformManifest(reader, root);
  if (typeof chosen === 'string') return unusable(chosen);
  const layer = layerOf(chosen.value);
  if (typeof layer === 'string') return unusable(layer);
  const unpacked = await unpackLayer(await reader.blob(layer.digest, LIMITS.layerBytes), signal);
  return 'refused' in unpacked ? unusable(unpacked.refused) : { digest: root.digest, files: unpacked.files };
}

function unusable(reason: string): ArtifactReading {
  return { kind: 'unusable', reason };
}

/** All platforms have the same layer; the first one of Linux is taken. */
async function platformManifest(reader: OciReader, root: OciManifest): Promise<OciManifest | string> {
  const { manifests } = root.value;
  if (manifests === undefined) return root;
  if (!Array.isArray(manifests) || manifests.length > LIMITS.manifestsPerIndex)
    return `its index does not list at most ${LIMITS.manifestsPerIndex} manifests`;
  const usable = manifests
    .filter(isObject)
    .filter(({ mediaType, digest }) => mediaType === MEDIA_TYPES.manifest && isDigest(digest));
  const found = usable.find(({ platform }) => isObject(platform) && platform.os === 'linux') ?? usable[0];
  if (found === undefined) return 'its index lists no OCI manifest';
  return (await reader.manifest(String(found.digest))) ?? 'its index lists a manifest that is missing';
}

function layerOf({ mediaType, config, layers }: Members): { readonly digest: string } | string {
  if (mediaType !== undefined && mediaType !== MEDIA_TYPES.manifest) return 'its manifest is not an OCI manifest';
  if (!isObject(config) || config.mediaType !== MEDIA_TYPES.config) return 'its configuration has another media type';
  if (!Array.isArray(layers) || layers.length === 0) return 'it has no layer';
  if (layers.length > LIMITS.layersPerManifest) return `it has more than ${LIMITS.layersPerManifest} layers`;
  if (layers.length > 1) return 'it has more than one layer';
  const [layer] = layers as readonly unknown[];
  if (!isObject(layer) || !isDigest(layer.digest)) return 'its layer has no digest';
  if (layer.mediaType !== MEDIA_TYPES.layer) return `its layer does not have the media type ${MEDIA_TYPES.layer}`;
  if (typeof layer.size === 'number' && layer.size > LIMITS.layerBytes)
    return `its layer is larger than ${LIMITS.layerBytes / 1024 ** 2} MB`;
  return { digest: layer.digest };
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value);
}
