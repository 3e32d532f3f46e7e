import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';

/** Folder of the joined modules in a package's `dist`. */
const PARTS = 'parts';

/**
 * Joins the compiled modules of a workspace into few files: Node opens each file of a start, and reads its code from one cache entry.
 *
 * Every entry stays where it was, as a file that exports a part. Modules find files beside them as before: `import.meta` of a module
 * says its own place. Other packages stay outside, so one copy of the core serves all.
 *
 * A module without imports of its workspace that no other one imports stays as it is: programs of containers are read as text.
 *
 * @param dist folder of the compiled modules
 * @param modules all of them, relative to `dist`
 * @param entries those that other packages import
 * @param own module by what the package's own modules name it by, e.g. `@toolmgr/plugins/kit/cel`
 * @returns text by path, relative to `dist`
 */
export async function bundle(
  dist: string,
  modules: readonly string[],
  entries: readonly string[],
  own: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map(modules.map((path) => [path, readFileSync(join(dist, path), 'utf8')]));
  const all = [...new Set([...entries, ...startedByPath(texts)])].sort();
  const imports = new Map([...texts].map(([path, text]) => [path, importsOf(path, text, own)]));
  const imported = new Set([...imports.values()].flat());
  const alone = all.filter((path) => imports.get(path)?.length === 0 && !imported.has(path));
  const joined = all.filter((path) => !alone.includes(path));
  const built = await rolldown({
    cwd: dist,
    input: Object.fromEntries(joined.map((path) => [partOf(path), join(dist, path)])),
    platform: 'node',
    external: (id) => !/^[./]/.test(id) && !own.has(id),
    plugins: [ownNames(dist, own), ownPlaces(dist)],
    logLevel: 'silent',
  });
  const { output } = await built.generate({
    dir: join(dist, PARTS),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    comments: { legal: false },
  });
  await built.close();
  const parts = output.filter((each): each is OutputChunk => each.type === 'chunk');
  return new Map([
    ...parts.map(({ fileName, code }) => [join(PARTS, fileName), code] as const),
    ...joined.map((path) => [path, reexport(path, parts)] as const),
    ...alone.map((path) => [path, texts.get(path) ?? ''] as const),
  ]);
}

function partOf(path: string): string {
  return path.replace(/\.js$/, '').replaceAll('/', '-');
}

function reexport(path: string, parts: readonly OutputChunk[]): string {
  const name = `${partOf(path)}.js`;
  const from = JSON.stringify(relative(dirname(path), join(PARTS, name)).replace(/^(?!\.)/, './'));
  const hasDefault = parts.find(({ fileName }) => fileName === name)?.exports.includes('default') === true;
  return `export * from ${from};\n${hasDefault ? `export { default } from ${from};\n` : ''}`;
}

/** Modules that a program or thread starts with, named by a path in the code. */
function startedByPath(texts: ReadonlyMap<string, string>): readonly string[] {
  const named = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(PATH_TEXT)].map(([, target = '']) => join(dirname(path), target)),
  );
  return named.filter((path) => texts.has(path));
}

/** A text `'./x.js'` that is not the source of an import. */
const PATH_TEXT = /(?<!from )(?<!import )(?<!import\()'(\.{1,2}\/[^'\n]+\.js)'/g;

function importsOf(path: string, text: string, own: ReadonlyMap<string, string>): readonly string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, target = '']) => {
    if (target.startsWith('.')) return [join(dirname(path), target)];
    return own.get(target) ?? [];
  });
}

const IMPORT = /\b(?:from |import |import\()'([^'\n]+)'/g;

/** Joins modules that name each other by the package, as they name those beside them. */
function ownNames(dist: string, own: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'own-names',
    resolveId(id) {
      const path = own.get(id);
      return path === undefined ? undefined : join(dist, path);
    },
  };
}

/** Gives each module the `import.meta` of its own place. */
function ownPlaces(dist: string): Plugin {
  return {
    name: 'own-places',
    transform: {
      filter: { code: 'import.meta' },
      handler(code, path) {
        const place = JSON.stringify(relative(join(dist, PARTS), path));
        const meta = `{ url, filename: ownPathOf(url), dirname: ownPathOf(new URL('.', url)).slice(0, -1) }`;
        const head = `import { fileURLToPath as ownPathOf } from 'node:url';\nconst ownMeta = ((url) => (${meta}))(new URL(${place}, import.meta.url).href);`;
        return `${head}\n${code.replaceAll('import.meta', 'ownMeta')}`;
      },
    },
  };
}
