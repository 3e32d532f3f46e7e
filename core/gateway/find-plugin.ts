import { isBuiltin } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { missingPackage } from '../errors/missing-package.ts';
import { faultFrom, GatewayFault } from '../errors.ts';
import type { SectionPlace, SectionReader } from '../extension/contract-section.ts';
import { nearest } from '../extension/nearest.ts';
import { PLUGIN_API_VERSION, type Plugin } from '../extension/plugin.ts';
import { whyNotLoaded } from './why-not-loaded.ts';

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
