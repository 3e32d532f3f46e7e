import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bundle } from './bundle.ts';

/**
 * The files of `dist` that a package needs, with their text; paths are relative to it.
 *
 * Left out: maps (their sources are not in the package), files of sources that were deleted since the last build, and
 * declarations that no public entry reaches.
 *
 * @param folder folder of the workspace
 * @param entries modules and declarations that other packages reach, such as `./dist/index.js` and `./dist/index.d.ts`
 */
export async function builtFiles(folder: string, entries: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const dist = join(folder, 'dist');
  const isCurrent = (path: string): boolean => existsSync(join(folder, path.replace(/\.js$/, '.ts')));
  const modules = globSync('**/*.js', { cwd: dist }).filter(isCurrent);
  const own = entries.map((entry) => relative('dist', entry));
  const data = globSync('**/*.json', { cwd: dist });
  const declarations = reachedFrom(entries.filter((path) => path.endsWith('.d.ts')).map((path) => join(folder, path)));
  const copied = [...data, ...declarations.map((path) => relative(dist, path))].sort();
  const joined = await bundle(
    dist,
    modules,
    own.filter((path) => path.endsWith('.js')),
    ownNames(folder),
  );
  return new Map([
    ...copied.map((path) => [path, withoutMap(readFileSync(join(dist, path), 'utf8'))] as const),
    ...joined,
  ]);
}

/** The built module of each entry by its name, such as `kit/cel/index.js` by `@toolmgr/plugins/kit/cel`. */
function ownNames(folder: string): ReadonlyMap<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  return new Map(
    Object.entries(exports).flatMap(([key, target]) => {
      const built = typeof target === 'string' ? target : target.default;
      return built.startsWith('./dist/') ? [[join(name, key), relative('dist', built)] as const] : [];
    }),
  );
}

interface Manifest {
  readonly name: string;
  readonly exports: { readonly [key: string]: string | { readonly default: string } };
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
function withoutMap(text: string): string {
  return text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
}
