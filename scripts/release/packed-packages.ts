import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../rigs/run-tool.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A workspace as the registry gets it. */
export interface PackedPackage {
  readonly workspace: 'core' | 'plugins' | 'hosts';
  readonly name: string;
  readonly version: string;
  /** The tarball. */
  readonly file: string;
}

/** Packs the three workspaces into a folder. Their `prepack` builds them. */
export async function packWorkspaces(into: string): Promise<readonly PackedPackage[]> {
  mkdirSync(into, { recursive: true });
  const workspaces = ['core', 'plugins', 'hosts'] as const;
  const flags = workspaces.flatMap((name) => ['-w', name]);
  await runTool('npm', ['pack', ...flags, '--pack-destination', into, '--loglevel=error'], { cwd: ROOT });
  return workspaces.map((workspace) => {
    const { name, version } = readManifest(workspace);
    const file = join(into, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
    return { workspace, name, version, file };
  });
}

/** `package.json` of a workspace. */
export function readManifest(workspace: string): { readonly name: string; readonly version: string } {
  return JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8')) as { name: string; version: string };
}
