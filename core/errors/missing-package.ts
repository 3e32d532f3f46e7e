import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installCommand } from './install-command.ts';

/**
 * An instruction to install a missing package when an import failed because of it; `undefined` for any other error.
 *
 * The version is the one in the importing package's package.json. Its `peerDependenciesMeta` may name the `feature` that an
 * optional peer is for: then the sentence names it, and the command installs all packages of the feature. `without` is a way
 * that does not need the package.
 */
export function missingPackage(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const [, name, importer] = /^Cannot find package '([^'/][^']*)' imported from (.+)$/.exec(cause.message) ?? [];
  if (name === undefined || importer === undefined) return undefined;
  const file = importer.startsWith('file:') ? fileURLToPath(importer) : importer;
  const lists = listsAbove(file);
  const feature = lists.peerDependenciesMeta?.[name]?.feature;
  if (feature === undefined) {
    const range = lists.dependencies?.[name] ?? lists.peerDependencies?.[name];
    const wanted = range === undefined ? name : `${name}@${range}`;
    return `the package ${name}, which ${file} imports, is not installed; install it: ${installCommand([wanted], file)}`;
  }
  const packages = packagesOf(feature, lists);
  const without = lists.peerDependenciesMeta?.[name]?.without;
  const other = without === undefined ? '' : `; or without it: ${without}`;
  return `${feature}: the optional package ${name} is not installed; install it: ${installCommand(packages, file)}${other}`;
}

/** A feature that does not work because optional packages are missing. */
export interface MissingFeature {
  readonly feature: string;
  /** Names of the packages. */
  readonly missing: readonly string[];
  /** Installs all packages of the feature. */
  readonly command: string;
}

/** The features of the optional peers of a package, by the absolute path of its package.json: those of which a package is missing. */
export function missingFeatures(packageJson: string): readonly MissingFeature[] {
  const lists = listsIn(textOf(packageJson) ?? '');
  const { resolve } = createRequire(packageJson);
  const optional = Object.entries(lists.peerDependenciesMeta ?? {});
  const absent = optional.filter(([name, { feature }]) => feature !== undefined && !isThere(resolve, name));
  return [...Map.groupBy(absent, ([, { feature = '' }]) => feature)].map(([feature, peers]) => ({
    feature,
    missing: peers.map(([name]) => name),
    command: installCommand(packagesOf(feature, lists), packageJson),
  }));
}

function isThere(resolve: NodeJS.RequireResolve, name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch (cause) {
    // a package for `import` only is there too
    return (cause as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}

/** All packages of a feature with their versions. */
function packagesOf(feature: string, { peerDependencies, peerDependenciesMeta = {} }: Lists): readonly string[] {
  return Object.entries(peerDependenciesMeta)
    .filter(([, meta]) => meta.feature === feature)
    .map(([peer]) => `${peer}@${shortRange(peerDependencies?.[peer] ?? '')}`);
}

/** `^3.1.2` as `3` and `^0.3.1` as `0.3`: the same versions, in a form that every shell leaves as it is. */
function shortRange(range: string): string {
  return /^\^(0\.\d+|[1-9]\d*)/.exec(range)?.[1] ?? range;
}

/** The parts of a package.json that are read here. */
interface Lists {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly feature?: string; readonly without?: string }>>;
}

/** The nearest package.json above a file. */
function listsAbove(file: string): Lists {
  for (let at = dirname(file), up = dirname(at); ; at = up, up = dirname(at)) {
    const text = textOf(join(at, 'package.json'));
    if (text !== undefined) return listsIn(text);
    if (up === at) return {};
  }
}

function listsIn(text: string): Lists {
  try {
    return JSON.parse(text) as Lists;
  } catch {
    return {}; // an invalid package.json, which npm could not read either
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
