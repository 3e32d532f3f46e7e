// Installs missing or outdated packages before a script runs. CommonJS, because an old Node may run this file.
const { execSync } = require('node:child_process');
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
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
  writeFileSync(mark, hash);
}
