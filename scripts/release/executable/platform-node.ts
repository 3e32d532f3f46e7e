import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../rigs/run-tool.ts';
import { hostPlatform, PLATFORMS, type PlatformName } from './platforms.ts';

/** Node.js of a platform, and a Node.js of the same version that runs here and writes the blob for it. */
export interface PlatformNode {
  readonly version: string;
  readonly file: string;
  readonly writer: string;
}

/** The first version with `import.meta.main`, which the product uses. */
const OLDEST = [24, 2] as const;
const MAJOR = OLDEST[0];

/**
 * Finds the Node.js for an executable: the running one for this platform, else the newest 24 in the registry of npm.
 * @returns the reason as text when there is none
 */
export async function platformNode(name: PlatformName, folder: string): Promise<PlatformNode | string> {
  if (name === hostPlatform()) {
    return { version: process.versions.node, file: process.execPath, writer: process.execPath };
  }
  const { nodePackage } = PLATFORMS[name];
  const version = await newestVersion(nodePackage);
  if (version === undefined) return `the registry has no ${nodePackage}@${MAJOR}`;
  if (!isNewEnough(version)) {
    return `the newest ${nodePackage}@${MAJOR} in the registry is ${version}, and ${OLDEST.join('.')} or newer is needed; build it on such a machine`;
  }
  const writer = await writerOf(version, folder);
  if (writer === undefined)
    return `no Node.js ${version} for this machine, which would write the blob, in the registry`;
  return { version, file: await fetchNode(name, version, folder), writer };
}

/** The blob has the format of its Node.js, so the same version writes it. */
async function writerOf(version: string, folder: string): Promise<string | undefined> {
  if (version === process.versions.node) return process.execPath;
  const host = hostPlatform();
  if (host === undefined) return undefined;
  return fetchNode(host, version, folder).catch(() => undefined);
}

async function newestVersion(name: string): Promise<string | undefined> {
  const text = await runTool('npm', ['view', `${name}@${MAJOR}`, 'version', '--json', '--loglevel=error']).catch(
    () => '',
  );
  if (text.trim() === '') return undefined;
  const found = JSON.parse(text) as string | readonly string[];
  const versions = typeof found === 'string' ? [found] : [...found];
  return versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0];
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === OLDEST[0] && minor >= OLDEST[1];
}

async function fetchNode(name: PlatformName, version: string, folder: string): Promise<string> {
  const { nodePackage, nodeFile } = PLATFORMS[name];
  const into = join(folder, `${nodePackage}-${version}`);
  const file = join(into, 'package', nodeFile);
  if (existsSync(file)) return file;
  mkdirSync(into, { recursive: true });
  const flags = ['--pack-destination', into, '--json', '--loglevel=error', '--prefer-offline'];
  await runTool('npm', ['pack', `${nodePackage}@${version}`, ...flags]);
  await runTool('tar', ['-xzf', join(into, `${nodePackage}-${version}.tgz`), '-C', into]);
  return file;
}
