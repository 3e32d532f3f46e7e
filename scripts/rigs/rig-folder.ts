import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { RigName } from './recipes.ts';

const SOURCES = join(import.meta.dirname, '../../test/rigs');

/** Folder with the pinned versions and sources of a rig. */
export function rigSource(name: RigName): string {
  return join(SOURCES, name);
}

/** Folder of built rigs, outside the checkout: `$XDG_CACHE_HOME/toolmgr/rigs`. */
export function rigCache(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'toolmgr', 'rigs');
}

/** The folder of a built rig. Its name changes with every file of the rig's source and with the platform. */
export function rigFolder(name: RigName): string {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}\n`);
  for (const file of filesBelow(rigSource(name))) {
    hash.update(`${file}\n`).update(readFileSync(join(rigSource(name), file)));
  }
  return join(rigCache(), `${name}-${hash.digest('hex').slice(0, 16)}`);
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
