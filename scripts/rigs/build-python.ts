import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './run-tool.ts';

/** Creates `venv` with the packages of `requirements.txt`. Returns its Python. */
export async function buildVenv(from: string, into: string): Promise<string> {
  await runTool('python3', ['-m', 'venv', join(into, 'venv')]);
  const python = join(into, 'venv', 'bin', 'python');
  await runTool(python, ['-m', 'pip', 'install', '-r', join(from, 'requirements.txt'), '--quiet', '--no-input']);
  return python;
}

/**
 * Creates `venv` with the packages of `requirements.txt`, and `server` with the folder `path` of the source distribution
 * in `source.txt`: SDKs publish their test servers only there.
 */
export async function buildPython(path: string, from: string, into: string): Promise<void> {
  const python = await buildVenv(from, into);
  const pip = (...args: readonly string[]) => runTool(python, ['-m', 'pip', ...args, '--quiet', '--no-input']);
  const scratch = join(into, 'source');
  mkdirSync(scratch);
  const sourceOnly = ['--no-deps', '--no-binary', ':all:', '--require-hashes'];
  await pip('download', ...sourceOnly, '-r', join(from, 'source.txt'), '-d', scratch);
  const [archive = ''] = readdirSync(scratch);
  await runTool(python, ['-m', 'tarfile', '-e', join(scratch, archive), scratch]);
  renameSync(join(scratch, archive.replace(/\.tar\.gz$/, ''), path), join(into, 'server'));
  rmSync(scratch, { recursive: true });
}
