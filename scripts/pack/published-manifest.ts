/** The parts of a package.json that packing reads or changes. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files?: readonly string[];
  readonly exports?: Exports;
  /** The manual page, below the folder of the package. */
  readonly man?: string;
  readonly scripts?: unknown;
  readonly devDependencies?: unknown;
}

/** The value of `exports`: a path, or a table of subpaths or conditions. */
export type Exports = string | { readonly [key: string]: Exports };

/** The export condition under which Node runs the sources of a clone. */
const SOURCES = 'development';

/**
 * The package.json of the tarball. The export condition of the sources is removed, because a package has none, and
 * bundlers use a condition of that name. Scripts and devDependencies concern only the clone.
 */
export function publishedManifest({ scripts, devDependencies, ...manifest }: Manifest): Manifest {
  if (manifest.exports === undefined) return manifest;
  return { ...manifest, exports: withoutSources(manifest.exports) };
}

function withoutSources(exports: Exports): Exports {
  if (typeof exports === 'string') return exports;
  const kept = Object.entries(exports).filter(([condition]) => condition !== SOURCES);
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutSources(value)]));
}

/** Every file that `exports` names, such as `./dist/index.js`. */
export function targetsOf(exports: Exports | undefined): readonly string[] {
  if (exports === undefined) return [];
  return typeof exports === 'string' ? [exports] : Object.values(exports).flatMap(targetsOf);
}
