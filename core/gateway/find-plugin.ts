import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin, stripTypeScriptTypes } from 'node:module';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { missingPackage } from '../errors/missing-package.ts';
import { explainCause, faultFrom, GatewayFault } from '../errors.ts';
import type { SectionPlace, SectionReader } from '../extension/contract-section.ts';
import { nearest } from '../extension/nearest.ts';
import { PLUGIN_API_VERSION, type Plugin } from '../extension/plugin.ts';

/** Plugins by address, each loaded only when a plan uses it. */
export type Catalogue = Readonly<Record<string, LoadPlugin | CatalogueEntry>>;

/** Imports the module of a plugin. */
export type LoadPlugin = () => Promise<{ readonly default: Plugin }>;

/** A plugin with a section in the contract's file, or with settings among the flags of workloads. */
export interface CatalogueEntry {
  readonly load: LoadPlugin;
  readonly section?: SectionPlace;
  /** Imports the parser of the section, without the plugin. */
  readonly contract?: () => Promise<{ readonly contract: SectionReader }>;
  readonly flags?: FlagsPlace;
}

/** Where a host of workloads finds the settings of a plugin. */
export interface FlagsPlace {
  /** The fields of a workload's configuration: when one is there, the reader is asked. */
  readonly fields: readonly string[];
  /** Imports the reader, without the plugin. The host of workloads knows its type. */
  readonly read: () => Promise<{ readonly fromFlags: unknown }>;
}

/** Imports the module with this `file:` URL. */
export type ImportFile = (url: string) => Promise<unknown>;

/** Where plugins are searched. */
export interface PluginPlaces {
  readonly catalogue: Catalogue;
  /** Plugins as objects; they take precedence over the catalogue. */
  readonly inline?: readonly Plugin[];
  /** Folder of relative paths, and start of the search for packages, like `import` in a file there. */
  readonly baseDir: string;
  /** Imports plugins that are files or packages. Default: `import`, which loads a file once per process. */
  readonly importFile?: ImportFile | undefined;
}

/**
 * The plugin of an address: an object, a file (`./x.js`, `../x.ts`, an absolute path), a catalogue entry, or an
 * installed package (`toolmgr-plugin-x`, `@acme/x`), in this order.
 * @throws GatewayFault PLUGIN_UNKNOWN with the reason why it was not loaded, PLUGIN_INVALID when the export is not a
 * plugin
 */
export async function findPlugin(use: string, places: PluginPlaces): Promise<Plugin> {
  const { catalogue, inline = [], baseDir, importFile } = places;
  const given = inline.find((plugin) => plugin.address === use);
  if (given !== undefined) return given;
  if (isPath(use)) return pluginAt(resolve(baseDir, use), importFile);
  const entry = Object.hasOwn(catalogue, use) ? catalogue[use] : undefined;
  if (entry === undefined) return pluginAt(await fileOfPackage(use, { catalogue, inline, baseDir }), importFile);
  try {
    return (await (typeof entry === 'function' ? entry : entry.load)()).default;
  } catch (cause) {
    const missing = missingPackage(cause);
    if (missing !== undefined) throw new GatewayFault('PLUGIN_UNKNOWN', missing);
    throw faultFrom(cause, 'PLUGIN_UNKNOWN', 'it could not be loaded');
  }
}

/** Whether an address is a file rather than a name. */
export function isPath(use: string): boolean {
  return use.startsWith('./') || use.startsWith('../') || isAbsolute(use);
}

async function pluginAt(path: string, importFile: ImportFile = (url) => import(url)): Promise<Plugin> {
  let module: { readonly default?: unknown };
  try {
    module = (await importFile(pathToFileURL(path).href)) as { readonly default?: unknown };
  } catch (cause) {
    throw faultFrom(cause, 'PLUGIN_UNKNOWN', whyNotLoaded(cause, path));
  }
  if (isPlugin(module.default)) return ofThisVersion(module.default, path);
  throw new GatewayFault(
    'PLUGIN_INVALID',
    `the default export of ${path} must be a plugin: { address, config, apply } with a schema as config`,
  );
}

/** @throws GatewayFault PLUGIN_INVALID for a plugin that was made for another version of the interface */
function ofThisVersion(plugin: Plugin, path: string): Plugin {
  const { apiVersion = PLUGIN_API_VERSION } = plugin;
  if (apiVersion === PLUGIN_API_VERSION) return plugin;
  const update = apiVersion > PLUGIN_API_VERSION ? 'update toolmgr' : 'update the plugin';
  throw new GatewayFault(
    'PLUGIN_INVALID',
    `${path} was made for version ${apiVersion} of the plugin interface, and this toolmgr has version ${PLUGIN_API_VERSION}: ${update}`,
  );
}

function isPlugin(value: unknown): value is Plugin {
  if (typeof value !== 'object' || value === null) return false;
  const { address, config, apply } = value as Partial<Plugin>;
  return typeof address === 'string' && typeof config?.safeParse === 'function' && typeof apply === 'function';
}

/** The main file of a package as `import` in `baseDir` would resolve it; Node resolves only from the importing file. */
async function fileOfPackage(use: string, { catalogue, inline, baseDir }: SearchedPlaces): Promise<string> {
  const known = [...Object.keys(catalogue), ...inline.map(({ address }) => address)];
  const hint = nearest(use, known);
  const advice = hint === undefined ? '' : `, did you mean "${hint}"?`;
  const unknown = `no plugin has the address ${use}${advice}`;
  if (!PACKAGE_NAME.test(use) || isBuiltin(use)) {
    throw new GatewayFault('PLUGIN_UNKNOWN', `${unknown} (a file is a path that starts with ./ or ../)`);
  }
  const { resolve: resolveFrom } = await import('import-meta-resolve');
  try {
    return fileURLToPath(resolveFrom(use, pathToFileURL(join(baseDir, 'plan.js')).href));
  } catch (cause) {
    const isThere = cause instanceof Error && 'code' in cause && cause.code !== 'ERR_MODULE_NOT_FOUND';
    if (isThere) throw new GatewayFault('PLUGIN_UNKNOWN', `${use}: ${cause.message}`, { cause });
    throw new GatewayFault(
      'PLUGIN_UNKNOWN',
      `${unknown} (no package of that name is installed for ${baseDir}; a file is a path that starts with ./ or ../)`,
    );
  }
}

type SearchedPlaces = Required<Omit<PluginPlaces, 'importFile'>>;

/** `name`, `@scope/name`, and subpaths. */
const PACKAGE_NAME = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?:\/[\w.-]+)*$/;

/** Why `import` of a plugin file failed: one sentence, with `FILE:LINE` if the engine or its compiler reports it. */
export function whyNotLoaded(cause: unknown, path: string): string {
  if (!(cause instanceof Error)) return `${path} threw ${explainCause(cause)}`;
  const message = 'code' in cause && typeof cause.code === 'string' ? MESSAGES[cause.code] : undefined;
  if (cause.message.startsWith(`Cannot find module '${path}'`)) return `there is no file ${path}${nearestFile(path)}`;
  if (message !== undefined) return `${path} ${message}`;
  const missing = missingPackage(cause);
  if (missing !== undefined) return missing;
  const place = placeOf(cause) ?? (cause instanceof SyntaxError ? placeBySyntax(path) : undefined);
  return `${place ?? path}: ${cause.name}: ${explainCause(cause)}`;
}

const NO_MODULE = 'is not a JavaScript or TypeScript module (.js, .mjs, .cjs, .ts, .mts)';

/** By code of Node's error. */
const MESSAGES: Readonly<Record<string, string>> = {
  ERR_UNSUPPORTED_DIR_IMPORT: 'is a folder; name the file in it, e.g. ./my-plugin/index.ts',
  ERR_UNKNOWN_FILE_EXTENSION: NO_MODULE,
  ERR_IMPORT_ATTRIBUTE_MISSING: NO_MODULE,
  ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING:
    'is TypeScript inside node_modules, which Node does not run; the package has to be published as JavaScript',
};

/** The nearest name in the folder of a missing file. */
function nearestFile(path: string): string {
  try {
    const meant = nearest(basename(path), readdirSync(dirname(path)));
    return meant === undefined ? '' : `, did you mean ${meant}?`;
  } catch {
    return ''; // the folder is missing too
  }
}

/** `FILE:LINE` where an error happened: the line at the beginning of its stack, or the first file of it. */
export function placeOf({ stack = '' }: Error): string | undefined {
  const [, file, line] = /^(?:file:\/\/)?(\/[^\n]+|[A-Za-z]:[^\n]+):(\d+)\n/.exec(stack) ?? [];
  const place = file === undefined ? FIRST_FRAME.exec(stack)?.[1] : `${file}:${line}`;
  return place?.replace(QUERY, '');
}

const FIRST_FRAME = /(?<=[\s(]|file:\/\/)(\/[^\s()]+:\d+):\d+\)?$/m;

/** Of a URL that a program imports instead of the file, to load changed code. */
const QUERY = /\?[^/?]*(?=:\d+$)/;

/** Node does not report the place of a syntax error in JavaScript; its TypeScript parser does. */
function placeBySyntax(path: string): string | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {}; // hides the warning that the parser is experimental
  try {
    stripTypeScriptTypes(readFileSync(path, 'utf8'), { sourceUrl: path });
    return undefined; // the error is in another file
  } catch (cause) {
    return cause instanceof Error ? placeOf(cause) : undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
