import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';

/** Imports the module with this `file:` URL. */
export type ImportFile = (url: string) => Promise<unknown>;

/** Modules of plugins that are files or packages, which Node by itself loads once per process. */
export interface PluginModules {
  readonly importFile: ImportFile;
  /** Compares the loaded files with the disk. When one has changed, later imports load all of them anew. */
  refresh(): Refreshed;
}

interface Refreshed extends ChangedFiles {
  /** The next imports may load other code: a file has changed, or an import failed and what it lacked may be there now. */
  readonly isLoadDue: boolean;
}

/** Paths of files that changed since they were loaded, sorted. */
export interface ChangedFiles {
  /** The file of a plugin, or one that it imports by a relative path; the next import loads it anew. */
  readonly reloaded: readonly string[];
  /** A file of a package that a plugin imports by name, or an ES module that it loads with `require`; only a restart loads it anew. */
  readonly stale: readonly string[];
}

/**
 * Imports plugins so that a reload can load them anew together with the files that they import by relative paths. A query in the URL
 * distinguishes the versions; the modules of earlier versions stay in memory, as Node never releases modules.
 *
 * The first import registers a hook for the imports of this process, because only a hook knows what a module imports.
 */
export function createPluginModules(): PluginModules {
  const files = new Map<string, LoadedFile>();
  const entries = new Set<string>();
  let version = 0;
  let hasFailed = false;
  let isHooked = false;

  const note = (path: string, kind: LoadedFile['kind']): void => {
    if (!files.has(path)) files.set(path, { kind, digest: digestOf(path) });
  };
  const hook: Resolve = (specifier, context, next) => {
    const found = next(specifier, context);
    const path = pathOf(found.url);
    if (path === undefined) return found;
    if (entries.has(specifier)) note(path, 'reloaded');
    const { parentURL = '' } = context;
    const importer = files.get(pathOf(parentURL) ?? '');
    if (importer === undefined) return found;
    if (importer.kind === 'stale' || !LOCAL.test(specifier)) {
      if (importer.kind === 'reloaded' || !found.url.includes(PACKAGES)) note(path, 'stale');
      return found;
    }
    const isRequired = [...context.conditions].includes('require'); // a Set in Node 24.0
    const importerVersion = isRequired ? version : versionIn(parentURL);
    if (importerVersion === version) note(path, 'reloaded');
    return isRequired ? found : { ...found, url: withVersion(found.url, importerVersion) };
  };
  return {
    async importFile(url) {
      if (!isHooked) registerHooks({ resolve: hook });
      isHooked = true;
      const versioned = withVersion(url, version);
      entries.add(versioned);
      try {
        return await import(versioned);
      } catch (cause) {
        hasFailed = true; // Node keeps the failure for this URL, also when a missing file has been added since
        throw cause;
      }
    },
    refresh() {
      const kept = [...files].filter(([path, { kind }]) => kind === 'stale' || isRequiredModule(path));
      const changed = [...files].filter(([path, { digest }]) => digestOf(path) !== digest).map(([path]) => path);
      const keptPaths = new Set(kept.map(([path]) => path));
      const reloaded = changed.filter((path) => !keptPaths.has(path)).sort();
      const isLoadDue = reloaded.length > 0 || hasFailed;
      if (isLoadDue) {
        for (const path of files.keys()) if (!keptPaths.has(path)) delete LOADED_BY_REQUIRE[path];
        files.clear();
        entries.clear();
        for (const [path, { digest }] of kept) files.set(path, { kind: 'stale', digest });
        version++;
        hasFailed = false;
      }
      return { isLoadDue, reloaded, stale: changed.filter((path) => keptPaths.has(path)).sort() };
    },
  };
}

interface LoadedFile {
  readonly kind: keyof ChangedFiles;
  readonly digest: string;
}

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>;

/** Specifiers of files beside the importing one, and of subpath imports (`#x`) of its package. */
const LOCAL = /^(?:\.{0,2}\/|\.{1,2}$|file:|#)/;

const PACKAGES = '/node_modules/';

/** Modules by path, which are found without their URL. */
const LOADED_BY_REQUIRE = createRequire(import.meta.url).cache;

/** Whether `require` loaded a file that is an ES module: Node finds it by its URL, and such a URL gets no version. */
function isRequiredModule(path: string): boolean {
  return types.isModuleNamespaceObject(LOADED_BY_REQUIRE[path]?.exports);
}

const VERSION = 'toolmgr-version';

/** The first version has the URL that it has without this file. */
function withVersion(given: string, version: number): string {
  if (version === 0) return given;
  const url = new URL(given);
  url.searchParams.set(VERSION, String(version));
  return url.href;
}

function versionIn(url: string): number {
  return url.includes(VERSION) ? Number(new URL(url).searchParams.get(VERSION)) : 0;
}

/** The path of a `file:` URL; `undefined` for others, such as modules of Node. */
function pathOf(url: string): string | undefined {
  return url.startsWith('file:') ? fileURLToPath(url) : undefined;
}

/** Empty for a file that cannot be read. */
function digestOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('base64');
  } catch {
    return '';
  }
}
