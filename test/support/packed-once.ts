import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../../plugins/kit/files/lock.ts';
import { packWorkspaces, type Tarball, WORKSPACES } from '../../scripts/pack/pack-workspaces.ts';
import { sourceHash } from './source-hash.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/toolmgr-packages');
const WAIT_MS = 300_000;

/** Packs the workspaces once for all test files, until a source changes. */
export async function packedOnce(): Promise<readonly Tarball[]> {
  const folder = join(CACHE, sourceHash(SOURCES));
  mkdirSync(CACHE, { recursive: true });
  const read = async (): Promise<readonly Tarball[]> => {
    if (!existsSync(folder)) {
      for (const old of readdirSync(CACHE)) rmSync(join(CACHE, old), { recursive: true, force: true });
      const unfinished = mkdtempSync(join(CACHE, '.unfinished-'));
      const tarballs = await packWorkspaces(join(unfinished, 'packages'));
      const named = tarballs.map((tarball) => ({ ...tarball, file: tarball.file.replace(unfinished, folder) }));
      writeFileSync(join(unfinished, 'tarballs.json'), JSON.stringify(named));
      renameSync(unfinished, folder);
    }
    return JSON.parse(readFileSync(join(folder, 'tarballs.json'), 'utf8')) as readonly Tarball[];
  };
  return withFileLock(CACHE, read, { waitMs: WAIT_MS });
}

/** What packages are made of. */
const SOURCES = [
  ...WORKSPACES.map((workspace) => `${workspace}/**/*.*`),
  ...['scripts/{pack,page}/**/*.ts', 'package-lock.json', 'tsconfig*.json', 'LICENSE'],
];
