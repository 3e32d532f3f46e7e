import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The files of `dist` that a package needs, relative to it.
 *
 * Left out: maps (their sources are not in the package), files of sources that were deleted since the last build, and
 * declarations that no public entry reaches.
 *
 * @param folder folder of the workspace
 * @param entries declarations of the public entries, such as `./dist/index.d.ts`
 */
export function builtFiles(folder: string, entries: readonly string[]): readonly string[] {
  const dist = join(folder, 'dist');
  const programs = globSync('**/*.js', { cwd: dist }).filter((path) =>
    existsSync(join(folder, path.replace(/\.js$/, '.ts'))),
  );
  const data = globSync('**/*.json', { cwd: dist });
  const declarations = reachedFrom(entries.map((entry) => join(folder, entry))).map((path) =>
    path.slice(dist.length + 1),
  );
  return [...programs, ...data, ...declarations].sort();
}

/** Declarations and those that they import, as absolute paths. */
function reachedFrom(entries: readonly string[]): readonly string[] {
  const found = new Set(entries);
  for (const path of found) {
    const text = readFileSync(path, 'utf8');
    for (const [, specifier = ''] of text.matchAll(RELATIVE)) {
      found.add(join(dirname(path), specifier.replace(/(?:\.js|\.ts)$/, '.d.ts')));
    }
  }
  return [...found];
}

/** `from './x.js'`, `import('./x.js')` and `import './x.js'` in a declaration. */
const RELATIVE = /(?:from\s*|import\s*\(?\s*)['"](\.{1,2}\/[^'"]+?)['"]/g;

/** A built file without the comment that names its map. */
export function withoutMap(text: string): string {
  return text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
}
