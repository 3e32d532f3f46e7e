import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeUnusedFiles } from '../image/unused-files.ts';
import { type Tarball, WORKSPACES } from '../pack/pack-workspaces.ts';
import { runTool } from '../rigs/run-tool.ts';
import type { Platform } from './executable/platforms.ts';
import { writeProductionManifests } from './production-manifests.ts';
import { removeUnreached } from './reached-files.ts';
import { type SbomSubject, writeTreeSbom } from './sbom.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Where the bill of materials of a tree is written. */
export interface TreeSbom extends SbomSubject {
  readonly file: string;
}

/**
 * Writes `node_modules` with the packed packages and everything that they need on a platform, in the versions of
 * `package-lock.json`, without install scripts and without files that nothing loads.
 *
 * Optional peers are included, because they cannot be added to an executable later.
 */
export async function writeProductionTree(
  into: string,
  packages: readonly Tarball[],
  { os, cpu }: Pick<Platform, 'os' | 'cpu'>,
  sbom?: TreeSbom,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-tree-'));
  try {
    writeProductionManifests(folder);
    const platform = [`--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])];
    const flags = ['--no-save', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
    await runTool('npm', ['install', ...flags, '--prefer-offline', ...platform], { cwd: folder });
    if (sbom !== undefined) await writeTreeSbom(folder, sbom.file, sbom);
    await replaceLinks(folder, packages);
    removeUnusedFiles(join(folder, 'node_modules'));
    removeUnreached(
      join(folder, 'node_modules'),
      packages.map(({ name }) => name),
    );
    rmSync(join(folder, 'node_modules', '.package-lock.json'), { force: true });
    mkdirSync(into, { recursive: true });
    await runTool('cp', ['-R', join(folder, 'node_modules'), into]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** npm links workspaces into `node_modules`. The packed packages take the places of the links. */
async function replaceLinks(folder: string, packages: readonly Tarball[]): Promise<void> {
  for (const { name, file, workspace } of packages) {
    const target = join(folder, 'node_modules', name);
    rmSync(target, { force: true });
    mkdirSync(target, { recursive: true });
    await runTool('tar', ['-xzf', file, '-C', target, '--strip-components=1']);
    const own = join(folder, workspace, 'node_modules');
    if (existsSync(own) && readdirSync(own).length > 0) renameSync(own, join(target, 'node_modules'));
  }
  for (const workspace of WORKSPACES) rmSync(join(folder, workspace), { recursive: true, force: true });
}

/** The license of the product, for folders that hold a whole product. */
export function copyLicense(into: string): void {
  mkdirSync(into, { recursive: true });
  copyFileSync(join(ROOT, 'LICENSE'), join(into, 'LICENSE'));
}
