import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFileLock } from '../../plugins/kit/files/lock.ts';
import { rigCache } from '../../scripts/rigs/rig-folder.ts';

const run = promisify(execFile);
const IMPORT_MS = 600_000;

/**
 * The folder with images that all Podman engines of tests read and none changes, in the user's cache. Every engine would take seconds to
 * import an image of its own.
 */
export async function podmanStore(): Promise<string> {
  const folder = join(rigCache(), 'podman-images');
  if (existsSync(join(folder, MADE))) return folder;
  await withFileLock(folder, async () => {
    if (existsSync(join(folder, MADE))) return;
    await podman(folder, 'images'); // creates the files of a store, without which an engine does not start
    await writeFile(join(folder, MADE), '');
  });
  return folder;
}

/** Imports a tar with a root file system, once for all engines and each `key`. `changes` are lines of a Dockerfile. */
export async function importIntoPodmanStore(
  key: string,
  tar: string,
  { image, changes }: { readonly image: string; readonly changes: readonly string[] },
): Promise<void> {
  const folder = await podmanStore();
  const mark = join(folder, `imported-${key}`);
  const flags = changes.flatMap((line) => ['--change', line]);
  const importOnce = async (): Promise<void> => {
    if (existsSync(mark)) return;
    await podman(folder, 'import', ...flags, tar, image);
    await writeFile(mark, '');
  };
  if (!existsSync(mark)) await withFileLock(folder, importOnce, { waitMs: IMPORT_MS });
}

const MADE = 'made';

async function podman(store: string, ...args: readonly string[]): Promise<void> {
  const state = `${store}-state`;
  await mkdir(state, { recursive: true });
  const own = ['--root', store, '--runroot', state, '--storage-driver', 'overlay', '--runtime', 'runc'];
  await run('podman', [...own, ...args]);
}
