import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rigCache } from '../../scripts/rigs/rig-folder.ts';

const run = promisify(execFile);
const UV = '0.13.9';

/**
 * The folder with `uv` and `uvx`, installed from PyPI into the user's cache once, or the reason why it is not there.
 * @throws Error under CI when it cannot be installed
 */
export async function uvFolder(): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const home = join(rigCache(), `uv-${UV}`);
  if (existsSync(home)) return { folder: join(home, 'bin') };
  const unfinished = `${home}.${process.pid}`;
  try {
    mkdirSync(rigCache(), { recursive: true });
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--no-input', '--target', unfinished, `uv==${UV}`]);
    if (!existsSync(home)) renameSync(unfinished, home);
    return { folder: join(home, 'bin') };
  } catch (cause) {
    if (process.env.CI !== undefined) throw cause;
    return { missing: `uv could not be installed: ${String(cause).split('\n')[0]}` };
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
