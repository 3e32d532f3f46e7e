import { isObject, parsedJson } from '@toolmgr/core';
import type { FoundSignature, OciClient, OciManifest } from '@toolmgr/plugins/kit/oci';
import { type Layer, simpleSignature } from './simple-signing.ts';

const BUNDLE = /^application\/vnd\.dev\.sigstore\.bundle(\.|\+|;|$)/;
/** A repository with more signatures of one image is not read to its end. */
const MAX_SIGNATURES = 50;

/**
 * The signatures of an image in its registry: Sigstore bundles that refer to it (by the referrers API, or under the tag
 * `sha256-HEX`), then those of older cosign versions under `sha256-HEX.sig`.
 *
 * Source: OCI distribution specification 1.1 "Referrers"; cosign, signature specification; reference run-command §6.
 * @throws GatewayFault when the registry does not answer
 */
export async function* findSignatures(client: OciClient, image: OciManifest): AsyncGenerator<FoundSignature> {
  const tag = image.digest.replace(':', '-');
  let count = 0;
  const seen = new Set<string>();
  const referring = [...((await client.referrers(image.digest)) ?? []), ...manifestsIn(await client.manifest(tag))];
  for (const { digest } of referring) {
    if (typeof digest !== 'string' || seen.has(digest) || ++count > MAX_SIGNATURES) continue;
    seen.add(digest);
    const manifest = await client.manifest(digest);
    for (const layer of layersIn(manifest)) {
      if (!BUNDLE.test(layer.mediaType) || ++count > MAX_SIGNATURES) continue;
      yield { bundle: parsedJson(await client.blob(layer.digest)), signed: image.bytes };
    }
  }
  for (const layer of layersIn(await client.manifest(`${tag}.sig`))) {
    if (++count > MAX_SIGNATURES) return;
    const found = simpleSignature(layer, await client.blob(layer.digest));
    if (found !== undefined) yield found;
  }
}

function layersIn(manifest: OciManifest | undefined): readonly Layer[] {
  const { layers } = manifest?.value ?? {};
  if (!Array.isArray(layers)) return [];
  return layers.filter(isObject).flatMap(({ mediaType, digest, annotations }) => {
    if (typeof mediaType !== 'string' || typeof digest !== 'string' || !DIGEST.test(digest)) return [];
    return [{ mediaType, digest, annotations: isObject(annotations) ? annotations : {} }];
  });
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

function manifestsIn(index: OciManifest | undefined): readonly Readonly<Record<string, unknown>>[] {
  const { manifests } = index?.value ?? {};
  return Array.isArray(manifests) ? manifests.filter(isObject).filter(({ digest }) => DIGEST.test(String(digest))) : [];
}
