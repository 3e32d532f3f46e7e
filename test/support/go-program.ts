import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const SCRATCH = join(import.meta.dirname, '../../.scratch');
const BUILD_MS = 400_000; // a first build also compiles the standard library
const PLACES = ['go', '/usr/local/go/bin/go'];

/** Path of a built Go program, or the reason why there is none. */
export type GoProgram = { readonly file: string } | { readonly missing: string };

/**
 * Builds the Go module in a folder beside this file, once per checkout and content.
 *
 * Returns `missing` when Go or its modules are unavailable; throws under CI.
 */
export async function goProgram(name: string): Promise<GoProgram> {
  const folder = join(import.meta.dirname, name);
  const file = join(SCRATCH, `${name}-${contentHash(folder)}`);
  if (existsSync(file)) return { file };
  const unfinished = `${file}.${process.pid}`;
  try {
    const go = await findGo();
    mkdirSync(SCRATCH, { recursive: true });
    await run(go, ['build', '-trimpath', '-o', unfinished, '.'], {
      cwd: folder,
      timeout: BUILD_MS,
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    renameSync(unfinished, file);
    return { file };
  } catch (cause) {
    rmSync(unfinished, { force: true });
    if (existsSync(file)) return { file }; // another process has built it first
    if (process.env.CI !== undefined) throw cause;
    return { missing: `${name} could not be built with Go: ${String(cause).split('\n')[0]}` };
  }
}

async function findGo(): Promise<string> {
  for (const go of PLACES) {
    try {
      await run(go, ['version']);
      return go;
    } catch {
      // not in this folder
    }
  }
  throw new Error('go is not on this machine');
}

function contentHash(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}
