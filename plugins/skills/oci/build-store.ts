import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { decodeObject, isObject } from '@toolmgr/core';
import { atomicWrite, withLock } from '@toolmgr/plugins/kit/files';
import { digestOf, type OciManifest, type OciReader } from '@toolmgr/plugins/kit/oci';
import { LABEL, MEDIA_TYPES } from './media-types.ts';
import type { Blob, PackedArtifact } from './pack-artifact.ts';

/** A local build of a skill. */
export interface SkillBuild {
  readonly tag: string;
  readonly digest: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
}

/** Local builds: an OCI image layout in a folder. */
export interface BuildStore {
  /** Reads by tag or digest. Blobs are checked against their digest. */
  readonly reader: OciReader;
  /** Builds, sorted by tag. */
  list(): Promise<readonly SkillBuild[]>;
  /** Stores an artifact under a tag; the tag of another build moves. */
  add(tag: string, artifact: PackedArtifact): Promise<void>;
  /** Removes a tag, and contents that no other tag needs. `false`: there is no such tag. */
  remove(tag: string): Promise<boolean>;
  /** What is stored under a tag, to push it. `undefined`: there is no such tag. */
  artifact(tag: string): Promise<PackedArtifact | undefined>;
}

/** The folder of local builds: `toolmgr/skills` in the XDG data folder. */
export function skillStoreFolder(env: NodeJS.ProcessEnv): string {
  const data = env.XDG_DATA_HOME;
  // XDG base directory specification: a relative path is ignored
  const folder = data !== undefined && isAbsolute(data) ? data : join(env.HOME ?? homedir(), '.local/share');
  return join(folder, 'toolmgr', 'skills');
}

const REF_NAME = 'org.opencontainers.image.ref.name';
const LOCK = 'index';

type Members = Readonly<Record<string, unknown>>;

/** Opens the store in a folder, which is created by the first build. Source: OCI image layout specification 1.0. */
export function openBuildStore(folder: string): BuildStore {
  const pathOf = (digest: string): string => join(folder, 'blobs', 'sha256', digest.slice('sha256:'.length));
  const indexPath = join(folder, 'index.json');
  const entries = async (): Promise<readonly Entry[]> => {
    const bytes = await contentOf(indexPath);
    if (bytes === undefined) return [];
    const index = objectOf(bytes);
    if (!Array.isArray(index?.manifests)) throw new Error(`${indexPath} is damaged: expected an OCI index`);
    return index.manifests.filter(isObject).flatMap(entryOf);
  };
  const blob = async (digest: string): Promise<Buffer | undefined> => {
    const bytes = DIGEST.test(digest) ? await contentOf(pathOf(digest)) : undefined;
    if (bytes !== undefined && digestOf(bytes) !== digest) throw new Error(`${pathOf(digest)} is damaged`);
    return bytes;
  };
  const present = async (digest: string): Promise<Buffer> => {
    const bytes = await blob(digest);
    if (bytes === undefined) throw new Error(`${pathOf(digest)} is missing`);
    return bytes;
  };
  const digestFor = async (reference: string): Promise<string | undefined> =>
    DIGEST.test(reference) ? reference : (await entries()).find(({ tag }) => tag === reference)?.digest;
  const manifest = async (reference: string): Promise<OciManifest | undefined> => {
    const digest = await digestFor(reference);
    const bytes = digest === undefined ? undefined : await blob(digest);
    if (digest === undefined || bytes === undefined) return undefined;
    return { digest, bytes, value: objectOf(bytes) ?? {} };
  };
  const replaceIndex = async (next: readonly Entry[]): Promise<void> => {
    const manifests = next.map(({ tag, digest, size }) => ({
      mediaType: MEDIA_TYPES.index,
      digest,
      size,
      annotations: { [REF_NAME]: tag },
    }));
    await atomicWrite(indexPath, JSON.stringify({ schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests }));
  };
  const write = async ({ digest, bytes }: Blob): Promise<void> => {
    if ((await blob(digest).catch(() => undefined)) === undefined) await atomicWrite(pathOf(digest), bytes);
  };
  return {
    reader: { manifest, blob: present },
    async list() {
      const found = await Promise.all((await entries()).map((each) => buildOf(each, manifest)));
      return found.filter((each) => each !== undefined).sort((a, b) => (a.tag < b.tag ? -1 : 1));
    },
    async add(tag, { index, manifests, blobs }) {
      await mkdir(join(folder, 'blobs', 'sha256'), { recursive: true, mode: 0o700 });
      await withLock(folder, LOCK, async () => {
        // the index is written last: a build that was interrupted is not listed
        for (const each of [...blobs, ...manifests, index]) await write(each);
        await atomicWrite(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
        const others = (await entries()).filter((each) => each.tag !== tag);
        await replaceIndex([...others, { tag, digest: index.digest, size: index.bytes.length }]);
        await removeUnused(folder, await usedBy([...others, { digest: index.digest }], blob));
      });
    },
    async remove(tag) {
      if (!(await entries()).some((each) => each.tag === tag)) return false;
      return withLock(folder, LOCK, async () => {
        const before = await entries();
        const after = before.filter((each) => each.tag !== tag);
        if (after.length === before.length) return false;
        await replaceIndex(after);
        await removeUnused(folder, await usedBy(after, blob));
        return true;
      });
    },
    async artifact(tag) {
      const index = await manifest(tag);
      if (index === undefined) return undefined;
      const stored = async (digest: string): Promise<Blob> => ({ digest, bytes: await present(digest) });
      const manifests = await Promise.all(digestsIn(index.value, 'manifests').map(stored));
      const inside = manifests.flatMap(({ bytes }) => blobsOf(objectOf(bytes)));
      return { index, manifests, blobs: await Promise.all([...new Set(inside)].map(stored)) };
    },
  };
}

interface Entry {
  readonly tag: string;
  readonly digest: string;
  readonly size: number;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

function entryOf({ annotations, digest, size }: Members): readonly Entry[] {
  const tag = isObject(annotations) ? annotations[REF_NAME] : undefined;
  if (typeof tag !== 'string' || typeof digest !== 'string' || !DIGEST.test(digest)) return [];
  return [{ tag, digest, size: Number(size) }];
}

async function buildOf({ tag, digest }: Entry, manifest: OciReader['manifest']): Promise<SkillBuild | undefined> {
  const index = await manifest(digest);
  if (index === undefined) return undefined;
  const annotations = isObject(index.value.annotations) ? index.value.annotations : {};
  const text = (key: string): string => String(annotations[`${LABEL}.${key}`] ?? '');
  return { tag, digest, name: text('name'), description: text('description'), version: text('version') };
}

function digestsIn(value: Members | undefined, key: 'manifests' | 'layers'): readonly string[] {
  const list = value?.[key];
  return Array.isArray(list) ? list.filter(isObject).map(({ digest }) => String(digest)) : [];
}

function blobsOf(manifest: Members | undefined): readonly string[] {
  const { config } = manifest ?? {};
  return [...(isObject(config) ? [String(config.digest)] : []), ...digestsIn(manifest, 'layers')];
}

async function usedBy(
  entries: readonly Pick<Entry, 'digest'>[],
  blob: (digest: string) => Promise<Buffer | undefined>,
): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  for (const { digest } of entries) {
    used.add(digest);
    for (const each of digestsIn(objectOf(await blob(digest)), 'manifests')) {
      used.add(each);
      for (const inner of blobsOf(objectOf(await blob(each)))) used.add(inner);
    }
  }
  return used;
}

/** Also removes what an interrupted build left. */
async function removeUnused(folder: string, used: ReadonlySet<string>): Promise<void> {
  const blobs = join(folder, 'blobs', 'sha256');
  for (const name of await readdir(blobs)) {
    if (!used.has(`sha256:${name}`)) await rm(join(blobs, name), { force: true });
  }
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
}

function objectOf(bytes: Buffer | undefined): Members | undefined {
  try {
    return bytes === undefined ? undefined : decodeObject(bytes);
  } catch {
    return undefined;
  }
}
