import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject } from '@toolmgr/core';

/**
 * A command line of this program as the user can type it: `npx toolmgr tools` where npx runs it, `npm run -s toolmgr -- tools` in a
 * clone, `toolmgr tools` where it is installed globally.
 *
 * Shape: `program` is the path of this file, by which the installation is known; `started` is the file that the user started.
 */
export function ownCommand(
  words: string,
  program: string = import.meta.filename,
  env = process.env,
  started = process.argv[1] ?? '',
): string {
  return `${programWords(program, env, started)} ${words}`;
}

function programWords(program: string, { npm_lifecycle_event: script }: NodeJS.ProcessEnv, started: string): string {
  // the link that npm makes for a global package, also for one that is installed from a folder; npx starts one in .bin
  if (basename(started) === 'toolmgr' && basename(dirname(started)) !== '.bin') return 'toolmgr';
  const at = program.search(/[\\/](?:node_modules|\.pnpm)[\\/]/);
  if (at < 0) return script === 'toolmgr' || script === 'start' ? 'npm run -s toolmgr --' : 'toolmgr';
  const root = program.slice(0, at);
  if (basename(dirname(root)) === '_npx') return npxWords(root);
  if (basename(dirname(dirname(root))) === 'dlx') return 'pnpm dlx toolmgr';
  if (!existsSync(join(root, 'package.json')) || IS_GLOBAL.test(root)) return 'toolmgr';
  const runner = RUNNERS.find(([file]) => existsSync(join(root, file)))?.[1] ?? 'npx';
  return `${runner} toolmgr`;
}

/** Folders of global packages that have a package.json. */
const IS_GLOBAL = /[\\/](?:global|\.bun[\\/]install)[\\/]/i;

const RUNNERS = [
  ['pnpm-lock.yaml', 'pnpm exec'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bunx'],
  ['bun.lockb', 'bunx'],
] as const;

/** With the packages that npx was asked for, as it notes them in the package.json that it makes. */
function npxWords(root: string): string {
  const asked = packagesOf(join(root, 'package.json'));
  const [only] = asked;
  if (asked.length <= 1 && /^toolmgr(@[\w.-]+)?$/.test(only ?? 'toolmgr')) return `npx ${only ?? 'toolmgr'}`;
  return ['npx', ...asked.map((name) => `-p ${name}`), 'toolmgr'].join(' ');
}

function packagesOf(manifest: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
    const packages = isObject(value) && isObject(value._npx) ? value._npx.packages : undefined;
    return Array.isArray(packages) ? packages.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}
