import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { rigCache } from '../../scripts/rigs/rig-folder.ts';
import { type ContainerEngine, importRoot } from './container-engine.ts';

const run = promisify(execFile);

/** Name of the base image that {@link importPackageBase} makes: Debian with Node.js, npm, Python, pip, Go and git. */
export const PACKAGE_BASE = 'localhost/test/base:1';

const VERSION = 2; // raised when the recipe changes
const NPM = '11.6.2';
const DEBIAN = ['ca-certificates', 'git', 'libatomic1', 'libstdc++6', 'python3', 'python3-pip'];
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*', '/usr/share/info/*'];
const MAX_OUTPUT = 64 * 1_048_576;

/** Why the base image cannot be made here; `undefined` when it can. Never a reason in CI. */
export function baseMissing(): string | undefined {
  if (process.env.CI !== undefined || existsSync(tarFile())) return undefined;
  const has = (program: string): boolean => spawnSync('which', [program]).status === 0;
  if (!has('mmdebstrap')) return 'no mmdebstrap on this machine (Debian: apt-get install mmdebstrap)';
  return goRoot() === undefined ? 'no go on this machine' : undefined;
}

/** Imports the base image. Its root file system is made once, from Debian's mirror, and kept in the user's cache. */
export async function importPackageBase(engine: ContainerEngine): Promise<void> {
  if (!existsSync(tarFile())) await makeTar(tarFile());
  await importRoot(engine, tarFile(), PACKAGE_BASE);
}

function tarFile(): string {
  return join(rigCache(), `package-base-${VERSION}-${process.arch}-node${process.versions.node}.tar`);
}

function goRoot(): string | undefined {
  for (const go of ['go', '/usr/local/go/bin/go']) {
    const found = spawnSync(go, ['env', 'GOROOT'], { encoding: 'utf8' });
    if (found.status === 0) return found.stdout.trim();
  }
  return undefined;
}

async function makeTar(file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-base-'));
  try {
    await mkdir(dirname(file), { recursive: true });
    const root = join(folder, 'root');
    const rules = LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`);
    const packages = `--include=${DEBIAN.join(',')}`;
    await run('mmdebstrap', ['--quiet', '--variant=apt', packages, ...rules, 'bookworm', root], {
      maxBuffer: MAX_OUTPUT,
    });
    const local = join(root, 'usr/local');
    await mkdir(join(local, 'bin'), { recursive: true });
    await cp(process.execPath, join(local, 'bin/node'));
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', join(folder, 'npm'), `npm@${NPM}`]);
    await cp(join(folder, 'npm/node_modules/npm'), join(local, 'lib/npm'), { recursive: true, verbatimSymlinks: true });
    await symlink('../lib/npm/bin/npm-cli.js', join(local, 'bin/npm'));
    await copyGo(join(local, 'go'));
    await symlink('../go/bin/go', join(local, 'bin/go'));
    const unfinished = `${file}.${process.pid}`;
    const devices = ['--exclude=./dev/*', '--exclude=./proc/*', '--exclude=./sys/*'];
    await run('tar', ['--owner=0', '--group=0', ...devices, '-C', root, '-cf', unfinished, '.'], {
      maxBuffer: MAX_OUTPUT,
    });
    await rename(unfinished, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The Go toolchain without its own tests and documentation. */
async function copyGo(into: string): Promise<void> {
  const root = goRoot();
  if (root === undefined) throw new Error('there is no go on this machine');
  await mkdir(into, { recursive: true });
  for (const part of ['bin', 'lib', 'pkg', 'src', 'VERSION', 'go.env']) {
    await cp(join(root, part), join(into, part), {
      recursive: true,
      filter: (path) => !/_test\.go$|\/testdata(\/|$)/.test(path),
    });
  }
}

/** The certificates that this machine trusts, for builds that reach package registries as it does. */
export async function machineCertificates(): Promise<string> {
  const places = [process.env.NODE_EXTRA_CA_CERTS, process.env.SSL_CERT_FILE, '/etc/ssl/certs/ca-certificates.crt'];
  const file = places.find((path) => path !== undefined && existsSync(path));
  return file === undefined ? tls.rootCertificates.join('\n') : readFile(file, 'utf8');
}
