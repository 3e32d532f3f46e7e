import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { atomicWrite } from '@toolmgr/plugins/kit/files';
import { z } from 'zod';

/** A copy of a registry on disk. */
export interface Cached {
  readonly document: string;
  readonly etag?: string;
  readonly fetchedAtMs: number;
  readonly ageMs: number;
}

/** Copies of registries by URL. Reading and writing never throw: a cache that cannot be used is empty. */
export interface RegistryCache {
  read(url: string): Promise<Cached | undefined>;
  write(url: string, document: string, etag: string | undefined): Promise<void>;
}

/** A copy is deleted after this time. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;

const stored = z.strictObject({
  url: z.string(),
  etag: z.string().max(1_000).optional(),
  fetchedAtMs: z.int(),
  document: z.string(),
});

/** Folder of copies: `toolmgr` in the XDG cache folder. */
export function cacheDir(env: Readonly<Record<string, string | undefined>>): string {
  // XDG base directory specification: a relative path is ignored
  if (env.XDG_CACHE_HOME?.startsWith('/')) return join(env.XDG_CACHE_HOME, 'toolmgr');
  return join(env.HOME ?? homedir(), '.cache', 'toolmgr');
}

/** Opens the cache in a folder; without one it is always empty. */
export function openCache(folder: string | undefined, nowMs: number): RegistryCache {
  return {
    async read(url) {
      if (folder === undefined) return undefined;
      const copy = await readStored(join(folder, fileOf(url)));
      const ageMs = copy === undefined ? 0 : nowMs - copy.fetchedAtMs;
      // another URL with the same hash, a clock that was wrong, or an old copy
      if (copy === undefined || copy.url !== url || ageMs < 0 || ageMs > MAX_AGE_MS) return undefined;
      const { document, etag, fetchedAtMs } = copy;
      return { document, fetchedAtMs, ageMs, ...(etag === undefined ? {} : { etag }) };
    },
    async write(url, document, etag) {
      if (folder === undefined) return;
      const copy = { url, ...(etag === undefined ? {} : { etag }), fetchedAtMs: nowMs, document };
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await atomicWrite(join(folder, fileOf(url)), JSON.stringify(copy));
        await removeOld(folder, nowMs);
      } catch {
        // the registry is used without a copy
      }
    },
  };
}

async function readStored(path: string): Promise<z.output<typeof stored> | undefined> {
  try {
    return stored.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return undefined;
  }
}

async function removeOld(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!NAME.test(name)) continue;
    const { mtimeMs } = await stat(join(folder, name));
    if (nowMs - mtimeMs > MAX_AGE_MS) await rm(join(folder, name), { force: true });
  }
}

const NAME = /^registry-[0-9a-f]{8}\.json$/;

function fileOf(url: string): string {
  return `registry-${createHash('sha256').update(url).digest('hex').slice(0, 8)}.json`;
}
