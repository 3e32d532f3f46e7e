// Installs the Debian packages that the tests need, where that is possible. A test without its program is skipped with a
// message; in CI (`CI` is set) it fails.
import { spawnSync } from 'node:child_process';

const PROGRAMS = {
  'redis-server': 'redis-server',
  wrk: 'wrk',
  // in CI only: container engines change a machine's network, and a keyring changes a desktop
  ...(process.env.CI
    ? {
        dockerd: 'docker.io',
        iptables: 'iptables',
        ip: 'iproute2',
        podman: 'podman',
        runc: 'runc',
        // real pods
        containerd: 'containerd',
        unshare: 'util-linux',
        pgrep: 'procps',
        strip: 'binutils',
        '/usr/lib/cni/bridge': 'containernetworking-plugins',
        // completion and the manual page
        zsh: 'zsh',
        fish: 'fish',
        groff: 'groff',
        busybox: 'busybox-static',
        'docker-registry': 'docker-registry',
        // the base image of packages is made from Debian's mirror
        mmdebstrap: 'mmdebstrap debian-archive-keyring',
        // the official MCP registry; initdb is not on PATH
        psql: 'postgresql',
        'gnome-keyring-daemon': 'gnome-keyring',
        'dbus-run-session': 'dbus-daemon',
        'redis-sentinel': 'redis-sentinel',
        chromium: 'chromium',
        // Keycloak
        java: 'openjdk-17-jre-headless',
        mvn: 'maven',
        // the rules of the alerts, the files for proxies in front, and terminals
        promtool: 'prometheus',
        nginx: 'nginx-light',
        caddy: 'caddy',
        tmux: 'tmux',
      }
    : {}),
};
const INSTALL_MS = 300_000;

const isInstalled = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;

/** Installs missing packages and prints in one line what it did or why it could not. */
export function ensureDebianPackages() {
  const missing = Object.entries(PROGRAMS).filter(([program]) => !isInstalled(program));
  if (missing.length === 0) return;
  const packages = missing.flatMap(([, names]) => names.split(' '));
  const asRoot = rootPrefix();
  if (asRoot === undefined || !isInstalled('apt-get')) {
    console.log(`not installed: ${packages.join(', ')} (needs apt-get, and root or sudo without a password)`);
    return;
  }
  console.log(`installing for the tests: ${packages.join(', ')}`);
  const aptGet = (...args) => {
    const [file, ...rest] = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', ...args];
    return spawnSync(file, rest, { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS }).status === 0;
  };
  // the package lists may be outdated or missing
  const install = () => aptGet('install', '-y', '--no-install-recommends', ...packages);
  if (!install() && !(aptGet('update') && install())) console.log(`not installed: ${packages.join(', ')}`);
}

/** Prefix to run a command as root; `undefined` when that is impossible. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined;
}
