import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Workspace } from '../pack/pack-workspaces.ts';
import { runTool } from '../rigs/run-tool.ts';
import { writeProductionManifests } from './production-manifests.ts';
import { readManifest } from './versions.ts';

/** The parts of a CycloneDX document that are read here. */
interface Bom {
  readonly metadata?: { component?: { name?: string; version?: string; purl?: string; type?: string } };
  readonly components?: readonly object[];
}

/**
 * Writes the bill of materials of a workspace as CycloneDX: its packages in the versions of `package-lock.json`, without
 * those of development.
 * @returns the number of components
 */
export async function writePackageSbom(workspace: Workspace, file: string): Promise<number> {
  const flags = ['-w', workspace, '--package-lock-only', '--sbom-type=library', '--loglevel=error'];
  const bom = JSON.parse(await fromLock(['sbom', '--sbom-format=cyclonedx', ...flags])) as Bom;
  const { name, version } = readManifest(workspace);
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const component = { 'bom-ref': `${name}@${version}`, type: 'library', name, version, purl };
  return writeBom({ ...bom, metadata: { ...bom.metadata, component } }, file, []);
}

/** What a bill of materials is about. */
export interface SbomSubject {
  readonly name: string;
  readonly version: string;
  /** Version of the Node.js, or the image that it is from. */
  readonly node: string;
}

// without --omit=dev, with which npm leaves out packages that packages of development need too
const APPLICATION = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--loglevel=error'];

/** Writes the bill of materials of an installed tree, with Node.js. @returns the number of components */
export async function writeTreeSbom(tree: string, file: string, subject: SbomSubject): Promise<number> {
  return writeApplicationBom(await runTool('npm', APPLICATION, { cwd: tree }), file, subject);
}

/** Writes the bill of materials of what the image installs, with Node.js. @returns the number of components */
export async function writeLockSbom(file: string, subject: SbomSubject): Promise<number> {
  const text = await fromLock([...APPLICATION, '--omit=optional', '--package-lock-only']);
  return writeApplicationBom(text, file, subject);
}

/** Runs npm over the lock file without packages of development. */
async function fromLock(args: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-sbom-'));
  try {
    writeProductionManifests(folder);
    return await runTool('npm', args, { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeApplicationBom(text: string, file: string, { name, version, node }: SbomSubject): number {
  const bom = JSON.parse(text) as Bom;
  const purl = `pkg:npm/toolmgr@${version}`;
  const component = { 'bom-ref': `toolmgr@${version}`, type: 'application', name, version, purl };
  const platform = { 'bom-ref': `node@${node}`, type: 'platform', name: 'node', version: node };
  return writeBom({ ...bom, metadata: { ...bom.metadata, component } }, file, [platform]);
}

function writeBom(bom: Bom, file: string, more: readonly object[]): number {
  const components = [...(bom.components ?? []), ...more];
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...bom, components }, null, 2)}\n`);
  return components.length;
}
