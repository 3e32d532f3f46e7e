import { chmodSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tarball } from '../../pack/pack-workspaces.ts';
import { rigFolder } from '../../rigs/rig-folder.ts';
import { isInstalled, runTool } from '../../rigs/run-tool.ts';
import { copyLicense, writeProductionTree } from '../production-tree.ts';
import { type PlatformNode, platformNode } from './platform-node.ts';
import { PLATFORMS, type PlatformName } from './platforms.ts';
import { type TreeArchive, writeTreeArchive } from './tree-archive.ts';

/** The mark in Node.js that says whether a program is attached. Source: nodejs.org/api/single-executable-applications.html */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** A built executable, or why there is none. */
export type ExecutableOutcome =
  | {
      readonly platform: PlatformName;
      readonly file: string;
      readonly node: string;
      readonly size: number;
      readonly tree: TreeArchive;
      /** What must be done before it is published. */
      readonly note?: string;
    }
  | { readonly platform: PlatformName; readonly skipped: string };

export interface ExecutableOptions {
  readonly packages: readonly Tarball[];
  readonly version: string;
  readonly out: string;
  /** A folder for intermediate files. */
  readonly scratch: string;
  /** Whether programs for macOS are built without `codesign`. macOS refuses to run them until they are signed. */
  readonly unsigned?: boolean;
  /** Level of zstd. */
  readonly level?: number;
}

/** Builds the single executable of a platform: its Node.js with `main.cjs` and the compressed tree of the product attached. */
export async function buildExecutable(platform: PlatformName, options: ExecutableOptions): Promise<ExecutableOutcome> {
  const isMac = PLATFORMS[platform].os === 'darwin';
  const signs = isMac && isInstalled('codesign', '--help');
  if (isMac && !signs && options.unsigned !== true) {
    return { platform, skipped: 'macOS runs signed programs only, and codesign is only on macOS: build it there' };
  }
  const node = await platformNode(platform, options.scratch);
  if (typeof node === 'string') return { platform, skipped: node };
  const folder = join(options.scratch, platform);
  mkdirSync(folder, { recursive: true });
  const tree = join(folder, 'tree');
  const name = `toolmgr-${options.version}-${platform}`;
  const sbom = { file: join(options.out, `${name}.cdx.json`), name, version: options.version, node: node.version };
  await writeProductionTree(tree, options.packages, PLATFORMS[platform], sbom);
  copyLicense(tree);
  const file = join(options.out, `${name}${platform.startsWith('win') ? '.exe' : ''}`);
  mkdirSync(options.out, { recursive: true });
  const { level } = options;
  const archive = await assembleExecutable({ tree, file, node, folder, isMac, signs, ...(level && { level }) });
  const note = isMac && !signs ? 'not signed: macOS refuses to run it' : undefined;
  return { platform, file, node: node.version, size: statSync(file).size, tree: archive, ...(note && { note }) };
}

/** Attaches a folder that has `node_modules/toolmgr/bin/toolmgr.js` to a copy of Node.js. `folder` is for intermediate files. */
export async function assembleExecutable({
  tree,
  file,
  node,
  folder,
  isMac = false,
  signs = false,
  level,
}: {
  readonly tree: string;
  readonly file: string;
  readonly node: PlatformNode;
  readonly folder: string;
  readonly isMac?: boolean;
  readonly signs?: boolean;
  readonly level?: number;
}): Promise<TreeArchive> {
  const archive = writeTreeArchive(tree, join(folder, 'tree.zst'), level);
  const blob = await writeBlob(folder, node.writer, archive.hash);
  copyFileSync(node.file, file);
  chmodSync(file, 0o755);
  if (signs) await runTool('codesign', ['--remove-signature', file]);
  await attach(file, blob, isMac);
  if (signs) await runTool('codesign', ['--sign', process.env.CODESIGN_IDENTITY ?? '-', file]);
  return archive;
}

/** Without snapshot and code cache, so that the blob is the same for all platforms of one version of Node.js. */
async function writeBlob(folder: string, writer: string, hash: string): Promise<string> {
  const output = join(folder, 'program.blob');
  writeFileSync(join(folder, 'hash'), hash);
  const config = {
    main: join(import.meta.dirname, 'main.cjs'),
    output,
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false,
    assets: { tree: join(folder, 'tree.zst'), hash: join(folder, 'hash') },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  await runTool(writer, ['--experimental-sea-config', join(folder, 'config.json')]);
  return output;
}

async function attach(file: string, blob: string, isMac: boolean): Promise<void> {
  const postject = join(rigFolder('release'), 'node_modules', 'postject', 'dist', 'cli.js');
  const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : [];
  await runTool(process.execPath, [postject, file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE, ...segment]);
}
