import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ClientFile } from './read-client-file.ts';

/** Backups beside a file: the first one, and the latest. */
export const KEPT_BACKUPS = 3;

/**
 * Copies a file, as it was read, to `NAME.toolmgr-backup-TIME` beside it, mode 0600. The first backup stays: it is the file before
 * toolmgr changed it. Of the later ones the last two stay. A copy with the same content is not made again.
 */
export async function backUp({ path, found }: ClientFile, nowMs: number): Promise<void> {
  if (found === undefined) return;
  const prefix = `${basename(path)}.toolmgr-backup-`;
  const folder = dirname(path);
  const backups = (await readdir(folder)).filter((name) => name.startsWith(prefix)).sort();
  const last = backups.at(-1);
  if (last !== undefined && (await readFile(join(folder, last)).catch(() => undefined))?.equals(found.bytes)) return;
  const time = new Date(nowMs).toISOString().replace(/[-:]/g, '').replace('.', '');
  const name = `${prefix}${time}`;
  await writeFile(join(folder, name), found.bytes, { mode: 0o600, flag: 'wx' }).catch(
    (cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
    },
  );
  const extra = [...backups, name].slice(1, -(KEPT_BACKUPS - 1));
  for (const old of extra) await rm(join(folder, old), { force: true });
}
