import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './sources.ts';

const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');

/** Formatted texts by their input, so that several checks in one process run the formatter once. */
const done = new Map<string, string>();

/**
 * Formats a page with the formatter of this repository, so that a generated page passes the format check.
 * @throws Error with the formatter's output when it fails
 */
export function formatted(path: string, text: string): string {
  const known = done.get(text);
  if (known !== undefined) return known;
  const run = spawnSync(process.execPath, [BIOME, 'format', `--stdin-file-path=${path}`], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
    timeout: FORMAT_MS,
    maxBuffer: MAX_BYTES,
  });
  if (run.status !== 0) throw new Error(`${path} could not be formatted: ${run.stderr || String(run.error)}`);
  done.set(text, run.stdout);
  return run.stdout;
}

const FORMAT_MS = 30_000;
const MAX_BYTES = 16_777_216;
