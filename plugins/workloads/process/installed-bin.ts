import { open, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** The program of an installed package. */
export interface InstalledBin {
  readonly path: string;
  /** Whether it is JavaScript that runs with Node. */
  readonly byNode: boolean;
}

/**
 * Finds the program of a package in the `node_modules` of the given folders or of any folder above them.
 *
 * `undefined` when it is not installed, has another version, or has no bin that `npx` would choose: the only one, or the one
 * named like the package.
 */
export async function findInstalledBin(
  wanted: { readonly name: string; readonly version?: string },
  from: readonly string[],
): Promise<InstalledBin | undefined> {
  for (const start of from) {
    for (const folder of foldersUp(start)) {
      const root = join(folder, 'node_modules', wanted.name);
      const manifest = await readManifest(join(root, 'package.json'));
      if (manifest === undefined) continue;
      if (wanted.version !== undefined && wanted.version !== manifest.version) continue;
      const bin = chosenBin(wanted.name, manifest.bin);
      if (bin === undefined) return undefined;
      return howToRun(resolve(root, bin));
    }
  }
  return undefined;
}

function* foldersUp(start: string): Generator<string> {
  for (let at = resolve(start), depth = 0; depth < MAX_DEPTH; at = dirname(at), depth++) {
    yield at;
    if (dirname(at) === at) return;
  }
}

const MAX_DEPTH = 64;

async function readManifest(path: string): Promise<{ version: unknown; bin: unknown } | undefined> {
  try {
    const manifest: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof manifest !== 'object' || manifest === null) return undefined;
    return { version: 'version' in manifest && manifest.version, bin: 'bin' in manifest && manifest.bin };
  } catch {
    return undefined; // not installed there or invalid: npx reports more
  }
}

function chosenBin(name: string, bin: unknown): string | undefined {
  if (typeof bin === 'string') return bin;
  if (typeof bin !== 'object' || bin === null) return undefined;
  const entries = Object.entries(bin).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (new Set(entries.map(([, path]) => path)).size === 1) return entries[0]?.[1];
  const bare = name.slice(name.lastIndexOf('/') + 1);
  return entries.find(([key]) => key === bare)?.[1];
}

/** Node scripts run with the current Node; shell scripts and binaries run directly. */
async function howToRun(path: string): Promise<InstalledBin | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
    const firstLine = buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? '';
    const byNode = firstLine.startsWith('#!') ? /\bnode\b/.test(firstLine) : /\.[cm]?js$/.test(path);
    return { path, byNode };
  } finally {
    await file.close();
  }
}

const FIRST_LINE_BYTES = 256;
