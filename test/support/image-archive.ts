import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, link, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runTool } from '../../scripts/rigs/run-tool.ts';

/** What a container of the image runs. */
export interface ImageConfig {
  readonly Entrypoint: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
}

/**
 * Writes an image with one layer as an OCI archive, without a container engine.
 *
 * @param root folder with the root file system
 * @param folder an empty folder for the parts
 * @returns path of the tar
 */
export async function writeImageArchive(
  name: string,
  root: string,
  config: ImageConfig,
  folder: string,
): Promise<string> {
  const layout = join(folder, 'layout');
  const blobs = join(layout, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const layer = join(folder, 'layer.tar');
  await runTool('tar', ['--owner=0', '--group=0', '--numeric-owner', '-C', root, '-cf', layer, '.']);
  const layerDigest = await digestOfFile(layer);
  await link(layer, join(blobs, layerDigest)).catch(() => cp(layer, join(blobs, layerDigest)));
  const put = async (content: object, mediaType: string): Promise<object> => {
    const bytes = Buffer.from(JSON.stringify(content));
    const digest = createHash('sha256').update(bytes).digest('hex');
    await writeFile(join(blobs, digest), bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const described = await put(
    { architecture, os: 'linux', config, rootfs: { type: 'layers', diff_ids: [`sha256:${layerDigest}`] } },
    'application/vnd.oci.image.config.v1+json',
  );
  const layers = [
    { mediaType: `${OCI}.layer.v1.tar`, digest: `sha256:${layerDigest}`, size: (await stat(layer)).size },
  ];
  const manifest = await put({ schemaVersion: 2, config: described, layers }, `${OCI}.manifest.v1+json`);
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name };
  await writeFile(
    join(layout, 'index.json'),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
  );
  await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  const archive = join(folder, 'image.tar');
  await runTool('tar', ['-C', layout, '-cf', archive, '.']);
  return archive;
}

const OCI = 'application/vnd.oci.image';

async function digestOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
