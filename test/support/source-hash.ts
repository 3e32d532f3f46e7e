import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** What the programs that tests start are made of. */
export const PROGRAM_SOURCES = [
  '{core,plugins,hosts}/**/*.ts',
  'test/support/{build-program,cli-session,cli-session-process,hide-package-hook}.ts',
  '{,core/,plugins/,hosts/}package.json',
  'package-lock.json',
];

/** Changes with every file that a pattern from the root names, except built and installed ones. */
export function sourceHash(patterns: readonly string[]): string {
  const hash = createHash('sha256');
  const exclude = (path: string): boolean => /(?:^|\/)(?:node_modules|dist)$/.test(path);
  for (const path of globSync([...patterns], { cwd: ROOT, exclude }).sort()) {
    const file = join(ROOT, path);
    if (statSync(file).isFile()) hash.update(`${path}\n`).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 16);
}
