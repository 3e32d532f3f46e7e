import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The conditions of `exports` that Node uses, by form of the import. */
const CONDITIONS = {
  import: new Set(['node', 'import', 'module-sync', 'node-addons', 'default']),
  require: new Set(['node', 'require', 'module-sync', 'node-addons', 'default']),
};
type Kind = keyof typeof CONDITIONS;

interface Manifest {
  readonly main?: string;
  readonly exports?: unknown;
  readonly imports?: unknown;
}

/** The file that an import leads to; `undefined` for a module of Node and for an optional package that is absent. */
export function resolved(name: string, from: string, kind: Kind): string | undefined {
  if (name.startsWith('.')) return fileAt(join(dirname(from), name));
  if (name.startsWith('#')) {
    const folder = packageOf(from);
    return target(manifestOf(folder).imports, name, folder, kind);
  }
  const [, packageName = '', rest = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(name) ?? [];
  const folder = folderOf(packageName, from);
  if (folder === undefined) return undefined;
  const { exports, main = 'index' } = manifestOf(folder);
  if (exports === undefined)
    return rest === '' ? (fileAt(join(folder, main)) ?? fileAt(join(folder, 'index'))) : fileAt(join(folder, rest));
  const isTable =
    typeof exports === 'object' && exports !== null && Object.keys(exports).some((key) => key.startsWith('.'));
  return target(isTable ? exports : { '.': exports }, `.${rest}`, folder, kind);
}

/** The entry of `exports` or `imports` for a subpath. */
function target(table: unknown, key: string, folder: string, kind: Kind): string | undefined {
  const entries = Object.entries((table ?? {}) as Readonly<Record<string, unknown>>);
  for (const [pattern, value] of entries.sort(([a], [b]) => b.length - a.length)) {
    const [before = '', after] = pattern.split('*');
    if (after === undefined ? pattern !== key : !(key.startsWith(before) && key.endsWith(after))) continue;
    const star = after === undefined ? '' : key.slice(before.length, key.length - after.length);
    const path = chosen(value, CONDITIONS[kind]);
    return path === undefined ? undefined : fileAt(join(folder, path.replaceAll('*', star)));
  }
  return undefined;
}

function chosen(value: unknown, conditions: ReadonlySet<string>): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((item) => chosen(item, conditions)).find((path) => path !== undefined);
  for (const [condition, inner] of Object.entries((value ?? {}) as object)) {
    const path = conditions.has(condition) ? chosen(inner, conditions) : undefined;
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The file of a path, which may lack its extension or be a folder. */
export function fileAt(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) return path;
  const tried = ['.js', '.cjs', '.mjs', '.json'].map((extension) => path + extension);
  if (stats?.isDirectory()) {
    const { main } = manifestOf(path);
    if (main !== undefined && main !== '.')
      tried.push(join(path, main), join(path, `${main}.js`), join(path, main, 'index.js'));
    tried.push(join(path, 'index.js'), join(path, 'index.cjs'));
  }
  return tried.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

function folderOf(name: string, from: string): string | undefined {
  for (let at = dirname(from), up = dirname(at); at !== up; at = up, up = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return undefined;
}

/** The folder of the package that a file belongs to. */
export function packageOf(file: string): string {
  const [, folder = dirname(file)] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  return folder;
}

const manifests = new Map<string, Manifest>();
function manifestOf(folder: string): Manifest {
  const known = manifests.get(folder);
  if (known !== undefined) return known;
  const file = join(folder, 'package.json');
  const manifest = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : {};
  manifests.set(folder, manifest);
  return manifest;
}
