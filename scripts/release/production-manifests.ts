import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACES } from '../pack/pack-workspaces.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Peers that are not installed: this one and what it needs take 400 MB. */
const LEFT_OUT: ReadonlySet<string> = new Set(['@huggingface/transformers']);
/** npm writes no bill of materials for a root without a version. */
const VERSION = '0.0.0';

interface Manifest {
  readonly version?: string;
  /** In a lock file: only packages of development need it. */
  readonly dev?: boolean;
  readonly devDependencies?: unknown;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Writes the manifests of the workspaces without packages of development, and the lock file of the repository, into a
 * folder, where npm then finds the versions that are tested. The root depends on all optional peers but
 * `@huggingface/transformers`.
 */
export function writeProductionManifests(folder: string): void {
  const peers: Record<string, string> = {};
  for (const workspace of WORKSPACES) {
    const { devDependencies, ...manifest } = read<Manifest>(join(workspace, 'package.json'));
    mkdirSync(join(folder, workspace));
    write(folder, join(workspace, 'package.json'), manifest);
    for (const [name, range] of Object.entries(manifest.peerDependencies ?? {})) {
      if (!LEFT_OUT.has(name)) peers[name] = range;
    }
  }
  const root = { name: 'toolmgr-tree', version: VERSION, workspaces: WORKSPACES, dependencies: peers };
  write(folder, 'package.json', { ...root, private: true });
  const lock = read<{ packages: Record<string, Manifest> }>('package-lock.json');
  const packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => dev !== true));
  packages[''] = root;
  for (const workspace of WORKSPACES) {
    const { devDependencies, ...entry } = packages[workspace] ?? {};
    packages[workspace] = entry;
  }
  write(folder, 'package-lock.json', { ...lock, name: root.name, version: VERSION, packages });
  if (existsSync(join(ROOT, '.npmrc'))) writeFileSync(join(folder, '.npmrc'), readFileSync(join(ROOT, '.npmrc')));
}

function read<T>(path: string): T {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;
}

function write(folder: string, path: string, value: object): void {
  writeFileSync(join(folder, path), JSON.stringify(value));
}
