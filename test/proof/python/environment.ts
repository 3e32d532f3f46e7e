import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rigCache } from '../../../scripts/rigs/rig-folder.ts';

const run = promisify(execFile);

const VERSION = '2.3.0';
const INSTALL_MS = 180_000;

/** Path of a Python with the package `mcp`, or the reason why there is none. */
export type PythonFound = { readonly python: string } | { readonly missing: string };

/**
 * Makes a virtual environment with the `mcp` package once and keeps it in the user's cache.
 *
 * Fails as a value where Python or its package index is not there. Under CI a Python without the package is a failure:
 * a test that is silently left out proves nothing.
 */
export async function pythonWithMcp(): Promise<PythonFound> {
  const home = join(rigCache(), `python-mcp-${VERSION}`);
  const python = join(home, 'bin', 'python');
  if (existsSync(python)) return { python };
  try {
    await run('python3', ['--version']);
  } catch {
    return { missing: 'python3 is not on this machine' };
  }
  const unfinished = `${home}.${process.pid}`;
  try {
    mkdirSync(rigCache(), { recursive: true });
    await run('python3', ['-m', 'venv', unfinished], { timeout: INSTALL_MS });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `mcp==${VERSION}`];
    await run(join(unfinished, 'bin', 'python'), pip, { timeout: INSTALL_MS });
    // an incomplete environment never has the final name; python finds its packages relative to itself
    renameSync(unfinished, home);
  } catch (cause) {
    rmSync(unfinished, { recursive: true, force: true });
    if (existsSync(python)) return { python }; // another process has created it first
    if (process.env.CI !== undefined) throw cause;
    return { missing: `mcp ${VERSION} could not be installed: ${String(cause).split('\n')[0]}` };
  }
  return { python };
}
