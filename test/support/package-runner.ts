import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A program named `npx` whose installations the test releases, with its notes. */
export interface PausedRunner {
  readonly file: string;
  /** Its npm cache. */
  readonly cache: string;
  /** Ends all installations. */
  release(): void;
  /** Later installations wait again. */
  hold(): void;
  /** Its events, e.g. `start pkg`, `overlap pkg`, `installed pkg`. */
  notes(): readonly string[];
  /** Arguments of the runner for a server of a kind. */
  args(name: string, kind?: 'legacy' | 'modern'): readonly string[];
}

/** Creates a runner in a temporary folder of the test. */
export function pausedRunner(): PausedRunner {
  const folder = mkdtempSync(join(tmpdir(), 'held-npx-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'npx');
  const server = new URL('./installing-server.ts', import.meta.url).pathname;
  // npx -y PACKAGE KIND
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${server}' '${folder}' "$3" "$2"\n`);
  chmodSync(file, 0o755);
  writeFileSync(join(folder, 'ledger'), '');
  return {
    file,
    cache: join(folder, 'cache'),
    release: () => writeFileSync(join(folder, 'released'), ''),
    hold: () => rmSync(join(folder, 'released'), { force: true }),
    notes: () => readFileSync(join(folder, 'ledger'), 'utf8').split('\n').slice(0, -1),
    args: (name, kind = 'legacy') => ['-y', name, kind],
  };
}
