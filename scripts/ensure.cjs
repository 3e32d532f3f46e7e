// Installs what is missing or outdated before a script runs. Plain CommonJS: it must work on the machine's own Node.
const { execSync } = require('node:child_process');
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const { join } = require('node:path');

const root = join(__dirname, '..');
const mark = join(root, 'node_modules', '.toolmgr-lock-hash');
const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(`toolmgr: Node ${process.versions.node} is too old to start the installation; 20 or newer is needed`);
  process.exit(1);
}
const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
const installed = existsSync(mark) ? readFileSync(mark, 'utf8') : '';
if (installed !== hash) {
  console.log('toolmgr: installing packages (npm ci); only the first time and after updates');
  try {
    execSync('npm ci --no-audit --no-fund --loglevel=error', { cwd: root, stdio: 'inherit' });
  } catch {
    console.error('toolmgr: npm ci failed. Check the network and the registry settings (npm ping), then run the command again.');
    process.exit(1);
  }
  writeFileSync(mark, hash);
}
