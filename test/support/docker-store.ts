import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withFileLock } from '../../plugins/workloads/state/lock.ts';
import { rigCache } from '../../scripts/rigs/rig-folder.ts';

const WAIT = { waitMs: 600_000 };
const LAYERS = 'overlay2';
const MARK = 'imported-';

/** Data folder of Docker engines that import images for all others, in the user's cache. */
const store = (): string => join(rigCache(), 'docker-images');

/**
 * Gives an engine that does not run yet the images of the store, because to import them takes seconds. Layers are links: no engine
 * changes them.
 *
 * @returns names of the tars whose images they are
 */
export async function shareImages(data: string): Promise<readonly string[]> {
  if (!existsSync(join(store(), LAYERS))) return [];
  return withFileLock(
    store(),
    async () => {
      const tars = (await readdir(store())).filter((name) => name.startsWith(MARK));
      if (tars.length === 0) return [];
      await mkdir(join(data, LAYERS), { recursive: true });
      await cp(join(store(), 'image'), join(data, 'image'), { recursive: true });
      for (const layer of await readdir(join(store(), LAYERS))) {
        const [from, to] = [join(store(), LAYERS, layer), join(data, LAYERS, layer)];
        if (layer === 'l') await cp(from, to, { recursive: true, verbatimSymlinks: true });
        else await symlink(from, to);
      }
      return tars.map((name) => name.slice(MARK.length));
    },
    WAIT,
  );
}

/** Runs `make`, which imports a tar with an engine over the store, unless that was done before. */
export async function keepImages(tar: string, make: (data: string) => Promise<void>): Promise<void> {
  const mark = join(store(), `${MARK}${basename(tar)}`);
  const once = async (): Promise<void> => {
    if (existsSync(mark)) return;
    await make(store());
    await writeFile(mark, '');
  };
  await withFileLock(store(), once, WAIT);
}
