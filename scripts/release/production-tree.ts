import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeUnusedFiles } from '../image/unused-files.ts';
import { runTool } from '../rigs/run-tool.ts';
import type { Platform } from './executable/platforms.ts';
import type { PackedPackage } from './packed-packages.ts';

const ROOT = join(import.meta.dirname, '../..');
const WORKSPACES = ['core', 'plugins', 'hosts'] as const;
/** Peers that are not installed: this one and what it needs take 400 MB. */
const LEFT_OUT: ReadonlySet<string> = new Set(['@huggingface/transformers']);

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Writes `node_modules` with the packed packages and everything that they need on a platform, in the versions of
 * `package-lock.json`, without install scripts and without files that nothing loads.
 *
 * Optional peers are included, because they cannot be added to an executable later.
 */
export async function writeProductionTree(
  into: string,
  packages: readonly PackedPackage[],
  { os, cpu }: Pick<Platform, 'os' | 'cpu'>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-tree-'));
  try {
    copyManifests(folder);
    const platform = [`--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])];
    const flags = ['--no-save', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
    await runTool('npm', ['install', ...flags, '--prefer-offline', ...platform], { cwd: folder });
    await replaceLinks(folder, packages);
    removeUnusedFiles(join(folder, 'node_modules'));
    rmSync(join(folder, 'node_modules', '.package-lock.json'), { force: true });
    mkdirSync(into, { recursive: true });
    await runTool('cp', ['-R', join(folder, 'node_modules'), into]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Manifests of the workspaces, so that npm uses the lock file. The optional peers become dependencies of the root. */
function copyManifests(folder: string): void {
  const peers: Record<string, string> = {};
  for (const workspace of WORKSPACES) {
    const text = readFileSync(join(ROOT, workspace, 'package.json'), 'utf8');
    mkdirSync(join(folder, workspace));
    writeFileSync(join(folder, workspace, 'package.json'), text);
    const { peerDependencies = {} } = JSON.parse(text) as Manifest;
    for (const [name, range] of Object.entries(peerDependencies)) if (!LEFT_OUT.has(name)) peers[name] = range;
  }
  const root = { name: 'toolmgr-tree', private: true, workspaces: WORKSPACES, dependencies: peers };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(root));
  for (const file of ['package-lock.json', '.npmrc']) {
    if (existsSync(join(ROOT, file))) copyFileSync(join(ROOT, file), join(folder, file));
  }
}

/** npm links workspaces into `node_modules`. The packed packages take the places of the links. */
async function replaceLinks(folder: string, packages: readonly PackedPackage[]): Promise<void> {
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
  mkdirSync(dirname(join(into, 'LICENSE')), { recursive: true });
  copyFileSync(join(ROOT, 'LICENSE'), join(into, 'LICENSE'));
}
