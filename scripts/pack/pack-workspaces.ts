import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { runTool } from '../rigs/run-tool.ts';
import { builtFiles } from './built-files.ts';
import { type Manifest, publishedManifest, targetsOf } from './published-manifest.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The workspaces that are published, each after those that it needs. */
export const WORKSPACES = ['core', 'plugins', 'hosts'] as const;
export type Workspace = (typeof WORKSPACES)[number];

/** Modules that `hosts/bin` imports, besides those that `exports` names. */
const STARTED: { readonly [W in Workspace]?: readonly string[] } = {
  hosts: ['./dist/cli/main.js', './dist/shared/engine.js'],
};

type Say = (line: string) => void;

/** A packed workspace. */
export interface Tarball {
  readonly workspace: Workspace;
  readonly name: string;
  readonly version: string;
  /** Absolute path of the `.tgz`. */
  readonly file: string;
  /** Size of the `.tgz`. */
  readonly bytes: number;
}

/**
 * Builds the workspaces and writes a tarball of each into a folder.
 *
 * Each package is put together in a temporary folder: the package.json of a clone is never changed, because programs
 * that run from the sources read it at the same time.
 *
 * Shape: `say` gets a line before each step, which may take half a minute.
 * @throws Error when a tool fails, or when a file that `exports` or `bin` names is not there
 */
export async function packWorkspaces(into: string, say: Say = () => {}): Promise<readonly Tarball[]> {
  await buildWorkspaces(say);
  const tarballs: Tarball[] = [];
  for (const workspace of WORKSPACES) {
    say(`packing ${workspace}`);
    tarballs.push(await packBuilt(workspace, into));
  }
  return tarballs;
}

/** Writes the tarball of one workspace, which is built, into a folder. @throws Error as {@link packWorkspaces} */
export async function packBuilt(workspace: Workspace, into: string): Promise<Tarball> {
  mkdirSync(into, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-pack-'));
  try {
    const { name, version } = await stage(workspace, scratch);
    const flags = ['--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', into];
    const file = join(into, filenameIn(await runTool('npm', ['pack', ...flags], { cwd: scratch })));
    return { workspace, name, version, file, bytes: statSync(file).size };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Compiles the workspaces and builds the page of the browser. */
export async function buildWorkspaces(say: Say = () => {}): Promise<void> {
  say('compiling the sources (the first time takes about half a minute)');
  await runTool(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b'], { cwd: ROOT });
  say('building the page');
  await runTool(process.execPath, [join(ROOT, 'scripts/page/build-page.ts')], { cwd: ROOT });
}

/** Writes the content of a package into an empty folder and returns its package.json. */
async function stage(workspace: Workspace, into: string): Promise<Manifest> {
  const from = join(ROOT, workspace);
  const manifest = publishedManifest(JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as Manifest);
  const entries = [
    ...targetsOf(manifest.exports).filter((path) => path.startsWith('./dist/')),
    ...(STARTED[workspace] ?? []),
  ];
  for (const [path, text] of await builtFiles(from, entries)) write(join(into, 'dist', path), text);
  for (const path of manifest.files ?? []) {
    if (path !== 'dist') cpSync(join(from, path), join(into, path), { recursive: true });
  }
  cpSync(join(from, 'README.md'), join(into, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(into, 'LICENSE'));
  if (manifest.man !== undefined)
    cpSync(join(ROOT, 'docs/reference', basename(manifest.man)), join(into, manifest.man));
  write(join(into, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  for (const path of targetsOf(manifest.exports)) {
    if (!existsSync(join(into, path)))
      throw new Error(`${workspace}/package.json: exports names ${path}, which is absent`);
  }
  return manifest;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** The name in what `npm pack --json` printed: a list of packages, or since npm 12 a table by name. */
function filenameIn(printed: string): string {
  const [packed] = Object.values(JSON.parse(printed) as Record<string, { readonly filename: string }>);
  if (packed === undefined) throw new Error('npm pack reported no package');
  return packed.filename;
}
