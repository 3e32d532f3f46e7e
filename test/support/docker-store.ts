import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileLock } from '../../plugins/kit/files/lock.ts';
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
 * @returns keys of the images, as {@link keepImages} got them
 */
export async function shareImages(data: string): Promise<readonly string[]> {
  if (!existsSync(join(store(), LAYERS))) return [];
  return withFileLock(
    store(),
    async () => {
      const marks = (await readdir(store())).filter((name) => name.startsWith(MARK));
      if (marks.length === 0) return [];
      await mkdir(join(data, LAYERS), { recursive: true });
      await cp(join(store(), 'image'), join(data, 'image'), { recursive: true });
      for (const layer of await readdir(join(store(), LAYERS))) {
        const [from, to] = [join(store(), LAYERS, layer), join(data, LAYERS, layer)];
        if (layer === 'l') await cp(from, to, { recursive: true, verbatimSymlinks: true });
        else await symlink(from, to);
      }
      return marks.map((name) => name.slice(MARK.length));
    },
    WAIT,
  );
}

/** Runs `make`, which imports an image with an engine over the store, unless that was done before for its `key`. */
export async function keepImages(key: string, make: (data: string) => Promise<void>): Promise<void> {
  const mark = join(store(), `${MARK}${key}`);
  const once = async (): Promise<void> => {
    if (existsSync(mark)) return;
    await make(store());
    await writeFile(mark, '');
  };
  await withFileLock(store(), once, WAIT);
}
