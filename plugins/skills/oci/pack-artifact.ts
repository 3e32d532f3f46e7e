import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { digestOf } from '@toolmgr/plugins/kit/oci';
import type { SkillFile } from '../artifact/artifact.ts';
import type { SkillFields } from '../artifact/skill-file.ts';
import { LABEL, MEDIA_TYPES } from './media-types.ts';

/** One content of an artifact. */
export interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}

/** An artifact that can be stored: its index, its manifests, and the blobs that they name. */
export interface PackedArtifact {
  readonly index: Blob;
  readonly manifests: readonly Blob[];
  readonly blobs: readonly Blob[];
}

const PLATFORMS = ['amd64', 'arm64'] as const;
const gzipped = promisify(gzip);

/**
 * Makes the OCI artifact of a skill. The same files and time give the same bytes.
 *
 * `files`: `SKILL.md` first, then sorted. `seconds`: time of the files since the epoch.
 * Source: reference workload-api §5.2.
 */
export async function packArtifact(
  fields: SkillFields,
  files: readonly SkillFile[],
  seconds: number,
): Promise<PackedArtifact> {
  const time = new Date(seconds * 1000);
  const tar = await tarOf(files, time);
  const layer = blob(withoutSystem(await gzipped(tar, { level: 9 })));
  const annotations = {
    'org.opencontainers.image.created': time.toISOString(),
    [`${LABEL}.name`]: fields.name,
    [`${LABEL}.description`]: fields.description,
    ...(fields.version === undefined ? {} : { [`${LABEL}.version`]: fields.version }),
    ...(fields.requires.length === 0 ? {} : { [`${LABEL}.requires`]: JSON.stringify(fields.requires) }),
  };
  const labels = {
    [`${LABEL}.name`]: fields.name,
    [`${LABEL}.description`]: fields.description,
    ...(fields.version === undefined ? {} : { [`${LABEL}.version`]: fields.version }),
    [`${LABEL}.allowedTools`]: JSON.stringify(fields.allowedTools),
    ...(fields.license === undefined ? {} : { [`${LABEL}.license`]: fields.license }),
    [`${LABEL}.files`]: JSON.stringify(files.map(({ path }) => path)),
  };
  const platforms = PLATFORMS.map((architecture) => {
    const config = json({
      created: time.toISOString(),
      architecture,
      os: 'linux',
      config: { Labels: labels },
      rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(tar).digest('hex')}`] },
    });
    const manifest = json({
      schemaVersion: 2,
      mediaType: MEDIA_TYPES.manifest,
      config: descriptor(MEDIA_TYPES.config, config),
      layers: [
        { ...descriptor(MEDIA_TYPES.layer, layer), annotations: { 'org.opencontainers.image.title': 'skill.tar.gz' } },
      ],
      annotations,
    });
    return { architecture, config, manifest };
  });
  const index = json({
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    artifactType: MEDIA_TYPES.artifact,
    manifests: platforms.map(({ architecture, manifest }) => ({
      ...descriptor(MEDIA_TYPES.manifest, manifest),
      platform: { architecture, os: 'linux' },
    })),
    annotations,
  });
  return {
    index,
    manifests: platforms.map(({ manifest }) => manifest),
    blobs: [layer, ...platforms.map(({ config }) => config)],
  };
}

async function tarOf(files: readonly SkillFile[], mtime: Date): Promise<Buffer> {
  const { pack: packTar } = await import('tar-stream'); // optional: a manager without it starts
  const pack = packTar();
  for (const { path, content } of files) {
    pack.entry({ name: path, mode: 0o644, uid: 0, gid: 0, uname: '', gname: '', mtime, type: 'file' }, content);
  }
  pack.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of pack as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The header of gzip names the operating system of who compressed. Source: RFC 1952 §2.3. */
function withoutSystem(bytes: Buffer): Buffer {
  bytes[9] = 0xff;
  return bytes;
}

function json(value: object): Blob {
  return blob(Buffer.from(JSON.stringify(value)));
}

function blob(bytes: Buffer): Blob {
  return { digest: digestOf(bytes), bytes };
}

function descriptor(mediaType: string, { digest, bytes }: Blob) {
  return { mediaType, digest, size: bytes.length };
}
