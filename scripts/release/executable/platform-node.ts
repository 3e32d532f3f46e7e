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
 * Finds the Node.js for an executable: the running one for this platform; else the newest 24 that the registry of npm has for
 * both that platform and this one, and the running version before all others.
 * @returns the reason as text when there is none
 */
export async function platformNode(name: PlatformName, folder: string): Promise<PlatformNode | string> {
  const running = process.versions.node;
  const host = hostPlatform();
  if (name === host) return { version: running, file: process.execPath, writer: process.execPath };
  const { nodePackage } = PLATFORMS[name];
  const versions = await versionsOf(nodePackage);
  if (versions.length === 0) return `the registry has no ${nodePackage}@${MAJOR}`;
  const usable = versions.filter(isNewEnough);
  if (usable.length === 0) {
    return `the newest ${nodePackage}@${MAJOR} in the registry is ${versions[0]}, and ${OLDEST.join('.')} or newer is needed: build it on such a machine`;
  }
  // the blob has the format of its Node.js, so the same version writes it
  if (usable.includes(running)) {
    return { version: running, file: await fetchNode(name, running, folder), writer: process.execPath };
  }
  const own = host === undefined ? [] : await versionsOf(PLATFORMS[host].nodePackage);
  const version = usable.find((candidate) => own.includes(candidate));
  if (host === undefined || version === undefined) {
    return `no version of Node.js ${MAJOR} is in the registry for ${name} and for this machine, which writes the data to attach`;
  }
  const [file, writer] = [await fetchNode(name, version, folder), await fetchNode(host, version, folder)];
  return { version, file, writer };
}

/** The versions of a package that the registry has, newest first. */
async function versionsOf(name: string): Promise<readonly string[]> {
  const view = ['view', `${name}@${MAJOR}`, 'version', '--json', '--loglevel=error'];
  const text = await runTool('npm', view).catch(() => '');
  if (text.trim() === '') return [];
  const found = JSON.parse(text) as string | readonly string[];
  const versions = typeof found === 'string' ? [found] : [...found];
  return versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
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
