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

/** The lines of Node.js that executables are made of. The registry has not every one for every platform. */
const LINES = '24 || 26';

/**
 * Finds the Node.js for an executable: the running one for this platform; else the newest of {@link LINES} that the registry of npm has for
 * both that platform and this one, and the running version before all others.
 * @returns the reason as text when there is none
 */
export async function platformNode(name: PlatformName, folder: string): Promise<PlatformNode | string> {
  const running = process.versions.node;
  const host = hostPlatform();
  if (name === host) return { version: running, file: process.execPath, writer: process.execPath };
  const { nodePackage } = PLATFORMS[name];
  const versions = await versionsOf(nodePackage);
  if (versions.length === 0) return `the registry has no ${nodePackage}@${LINES}: build it on such a machine`;
  // the blob has the format of its Node.js, so the same version writes it
  if (versions.includes(running)) {
    return { version: running, file: await fetchNode(name, running, folder), writer: process.execPath };
  }
  const own = host === undefined ? [] : await versionsOf(PLATFORMS[host].nodePackage);
  const version = versions.find((candidate) => own.includes(candidate));
  if (host === undefined || version === undefined) {
    return `no version of Node.js ${LINES} is in the registry for ${name} and for this machine, which writes the data to attach`;
  }
  const [file, writer] = [await fetchNode(name, version, folder), await fetchNode(host, version, folder)];
  return { version, file, writer };
}

/** The versions of a package that the registry has, newest first. */
async function versionsOf(name: string): Promise<readonly string[]> {
  const view = ['view', `${name}@${LINES}`, 'version', '--json', '--loglevel=error'];
  const text = await runTool('npm', view).catch(() => '');
  if (text.trim() === '') return [];
  const found = JSON.parse(text) as string | readonly string[];
  const versions = typeof found === 'string' ? [found] : [...found];
  return versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
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
