// Installs the Debian packages whose programs the tests start, where that is possible. A test whose program is missing
// says so and is skipped; in CI (`CI` is set) it fails instead.
import { spawnSync } from 'node:child_process';

const PROGRAMS = { 'redis-server': 'redis-server', wrk: 'wrk' };
const INSTALL_MS = 300_000;

const isInstalled = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;

/** Installs what is missing; says in one line what it did or why it could not. */
export function ensureDebianPackages() {
  const missing = Object.entries(PROGRAMS).filter(([program]) => !isInstalled(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  const asRoot = rootPrefix();
  if (asRoot === undefined || !isInstalled('apt-get')) {
    console.log(`not installed: ${packages.join(', ')} (it takes apt-get, as root or by sudo without a password)`);
    return;
  }
  console.log(`installing for the tests: ${packages.join(', ')}`);
  const aptGet = (...args) => {
    const [file, ...rest] = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', ...args];
    return spawnSync(file, rest, { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS }).status === 0;
  };
  // the lists may be older than the mirror, or there may be none yet
  const install = () => aptGet('install', '-y', '--no-install-recommends', ...packages);
  if (!install() && !(aptGet('update') && install())) console.log(`not installed: ${packages.join(', ')}`);
}

/** What makes a command run as root; `undefined` when nothing does. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined;
}
