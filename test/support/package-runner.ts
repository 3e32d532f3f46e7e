import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A program named `npx` whose packages are installed when the test says so, and what it noted. */
export interface HeldRunner {
  readonly file: string;
  /** npm's cache for it. */
  readonly cache: string;
  /** Lets every installation end. */
  release(): void;
  /** Lines of what happened, e.g. `start pkg`, `overlap pkg`, `installed pkg`. */
  notes(): readonly string[];
  /** Arguments of the runner that give a server of a kind. */
  args(name: string, kind?: 'legacy' | 'modern'): readonly string[];
}

/** Makes such a runner in a folder that goes with the test. */
export function heldRunner(): HeldRunner {
  const folder = mkdtempSync(join(tmpdir(), 'held-npx-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'npx');
  const server = new URL('./installing-server.ts', import.meta.url).pathname;
  // npx -y PACKAGE KIND: what the server is started with
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${server}' '${folder}' "$3" "$2"\n`);
  chmodSync(file, 0o755);
  writeFileSync(join(folder, 'ledger'), '');
  return {
    file,
    cache: join(folder, 'cache'),
    release: () => writeFileSync(join(folder, 'released'), ''),
    notes: () => readFileSync(join(folder, 'ledger'), 'utf8').split('\n').slice(0, -1),
    args: (name, kind = 'legacy') => ['-y', name, kind],
  };
}
