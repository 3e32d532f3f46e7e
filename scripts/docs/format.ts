import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './sources.ts';

const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');

/** Formatted texts by their input, so that several checks in one process run the formatter once. */
const done = new Map<string, string>();

/**
 * Formats pages with the formatter of this repository, so that generated pages pass the format check. One run formats all of
 * them, in a temporary folder.
 * @throws Error with the formatter's output when it fails
 */
export function formatted(pages: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const missing = [...pages].filter(([, text]) => !done.has(text));
  if (missing.length > 0) formatNow(missing);
  return new Map([...pages].map(([path, text]) => [path, done.get(text) ?? text]));
}

function formatNow(pages: readonly (readonly [string, string])[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-docs-'));
  try {
    for (const [path, text] of pages) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const args = ['format', '--write', `--config-path=${ROOT}`, '--vcs-enabled=false', folder];
    const run = spawnSync(process.execPath, [BIOME, ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: FORMAT_MS,
      maxBuffer: MAX_BYTES,
    });
    if (run.status !== 0) throw new Error(`pages could not be formatted: ${run.stderr || String(run.error)}`);
    for (const [path, text] of pages) done.set(text, readFileSync(join(folder, path), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FORMAT_MS = 60_000;
const MAX_BYTES = 16_777_216;
