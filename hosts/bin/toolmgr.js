#!/usr/bin/env node
// Starts the command line with a Node that can run it. Plain JavaScript: the machine's own Node may be an old one.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;
const here = dirname(realpathSync(fileURLToPath(import.meta.url)));
const source = join(here, '..', 'cli', 'main.ts');
const built = join(here, '..', 'dist', 'cli', 'main.js');
const isCheckout = existsSync(source); // a published package has no sources; a checkout may have an old build
const isNewEnough = Number(process.versions.node.split('.')[0]) >= NEEDED;
const argv = process.argv.slice(2);

// `--`: without it Node looks for its own flags, such as --env-file, among those of the product
if (isCheckout) run(nodeFor(here), ['--conditions=development', '--', source, ...argv]);
else if (isNewEnough) process.exitCode = await start();
else run(nodeFor(here), ['--', built, ...argv]);

/**
 * The engine is set up before the house is loaded, and keeps what it compiled: the next start takes a sixth less CPU. In a
 * folder of the user's own, as whoever writes there decides what runs; where it cannot be written, starts are as before.
 */
async function start() {
  const { XDG_CACHE_HOME: given } = process.env;
  module.enableCompileCache(join(given?.startsWith('/') ? given : join(homedir(), '.cache'), 'toolmgr'));
  const { prepareEngine } = await import('../dist/engine.js');
  prepareEngine();
  return (await import(built)).main(process.argv);
}

/** The running Node when it is new enough, else the one pinned through npm in a node_modules above. */
function nodeFor(from) {
  if (isNewEnough) return process.execPath;
  for (let at = from, up = dirname(at); ; at = up, up = dirname(at)) {
    const pinned = join(at, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
    if (existsSync(pinned)) return realpathSync(pinned);
    if (up === at) break;
  }
  console.error(`toolmgr: Node ${process.versions.node} is too old, ${NEEDED} or newer is needed (https://nodejs.org)`);
  process.exit(1);
}

/** Becomes the other program where the system can, so signals and exit code need no help; else stands in front of it. */
function run(file, args) {
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(file, [file, ...args], process.env);
  }
  const child = spawn(file, args, { stdio: 'inherit' });
  const forward = (signal) => child.kill(signal);
  // from a terminal, Ctrl-C reaches the child by itself; twice would mean "at once"
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
