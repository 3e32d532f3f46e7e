import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACES, type Workspace } from '../pack/pack-workspaces.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The parts of a package.json that versions are in. */
export interface VersionedManifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** `package.json` of a workspace. */
export function readManifest(workspace: Workspace): VersionedManifest {
  return JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8')) as VersionedManifest;
}

/** The version of the product. @throws Error with all faults, when the packages do not have one version */
export function productVersion(): string {
  const manifests = WORKSPACES.map(readManifest);
  const faults = versionFaults(manifests);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return manifests[0]?.version ?? '';
}

/** The packages have one version, and need exactly this version of each other. One sentence per fault. */
export function versionFaults(manifests: readonly VersionedManifest[]): readonly string[] {
  const [first, ...others] = manifests;
  if (first === undefined) return [];
  const names = new Set(manifests.map(({ name }) => name));
  const different = others
    .filter(({ version }) => version !== first.version)
    .map(({ name, version }) => `${name} has version ${version}, ${first.name} has ${first.version}`);
  const ranges = manifests.flatMap(({ name, dependencies, peerDependencies }) =>
    Object.entries({ ...dependencies, ...peerDependencies })
      .filter(([needed, range]) => names.has(needed) && range !== first.version)
      .map(([needed, range]) => `${name} needs ${needed}@${range}, expected ${first.version}`),
  );
  return [...different, ...ranges];
}
