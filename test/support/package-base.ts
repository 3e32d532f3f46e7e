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

/** Name of the base image that {@link importPackageBase} makes. */
export const packageBase = (kind: BaseKind): string => `localhost/test/base-${kind}:1`;

/** What a base image is for: `scripts` is Debian with Node.js, npm, Python, pip and git; `go` is Debian with Go and git. */
export type BaseKind = 'scripts' | 'go';

const VERSION = 3; // raised when a recipe changes
const NPM = '11.6.2';
const DEBIAN = {
  scripts: ['ca-certificates', 'git', 'libatomic1', 'libstdc++6', 'python3', 'python3-pip'],
  go: ['ca-certificates', 'git'],
} as const;
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*', '/usr/share/info/*'];
const MAX_OUTPUT = 64 * 1_048_576;

/** Why the base image cannot be made here; `undefined` when it can. Never a reason in CI. */
export function baseMissing(kind: BaseKind): string | undefined {
  if (process.env.CI !== undefined || existsSync(tarFile(kind))) return undefined;
  const has = (program: string): boolean => spawnSync('which', [program]).status === 0;
  if (!has('mmdebstrap')) return 'no mmdebstrap on this machine (Debian: apt-get install mmdebstrap)';
  return kind === 'go' && goRoot() === undefined ? 'no go on this machine' : undefined;
}

/** Imports the base image. Its root file system is made once, from Debian's mirror, and kept in the user's cache. */
export async function importPackageBase(engine: ContainerEngine, kind: BaseKind): Promise<void> {
  if (!existsSync(tarFile(kind))) await makeTar(tarFile(kind), kind);
  await importRoot(engine, tarFile(kind), packageBase(kind));
}

function tarFile(kind: BaseKind): string {
  return join(rigCache(), `package-base-${kind}-${VERSION}-${process.arch}-node${process.versions.node}.tar`);
}

function goRoot(): string | undefined {
  for (const go of ['go', '/usr/local/go/bin/go']) {
    const found = spawnSync(go, ['env', 'GOROOT'], { encoding: 'utf8' });
    if (found.status === 0) return found.stdout.trim();
  }
  return undefined;
}

async function makeTar(file: string, kind: BaseKind): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-base-'));
  try {
    await mkdir(dirname(file), { recursive: true });
    const root = join(folder, 'root');
    const rules = LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`);
    const packages = `--include=${DEBIAN[kind].join(',')}`;
    await run('mmdebstrap', ['--quiet', '--variant=apt', packages, ...rules, 'bookworm', root], {
      maxBuffer: MAX_OUTPUT,
    });
    await mkdir(join(root, 'usr/local/bin'), { recursive: true });
    await ADD[kind](root, folder);
    const unfinished = `${file}.${process.pid}`;
    const devices = ['--exclude=./dev/*', '--exclude=./proc/*', '--exclude=./sys/*'];
    await run('tar', ['--numeric-owner', ...devices, '-C', root, '-cf', unfinished, '.'], { maxBuffer: MAX_OUTPUT });
    await rename(unfinished, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const ADD = { scripts: addScripts, go: addGo };

async function addScripts(root: string, folder: string): Promise<void> {
  const local = join(root, 'usr/local');
  await cp(process.execPath, join(local, 'bin/node'));
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', join(folder, 'npm'), `npm@${NPM}`]);
  await cp(join(folder, 'npm/node_modules/npm'), join(local, 'lib/npm'), { recursive: true, verbatimSymlinks: true });
  await symlink('../lib/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  await run('chown', ['-R', '0:0', local]);
}

/** The Go toolchain without its own tests and documentation, and its packages compiled: 20 s of each build. */
async function addGo(root: string): Promise<void> {
  const from = goRoot();
  if (from === undefined) throw new Error('there is no go on this machine');
  const into = join(root, 'usr/local/go');
  await mkdir(into, { recursive: true });
  for (const part of ['bin', 'lib', 'pkg', 'src', 'VERSION', 'go.env']) {
    await cp(join(from, part), join(into, part), {
      recursive: true,
      filter: (path) => !/_test\.go$|\/testdata(\/|$)/.test(path),
    });
  }
  await symlink('../go/bin/go', join(root, 'usr/local/bin/go'));
  await run('chown', ['-R', '0:0', join(root, 'usr/local')]);
  // where the user of a build looks, and with its flags
  const GOCACHE = join(root, 'home/app/.cache/go-build');
  const env = { ...process.env, GOROOT: into, GOCACHE, CGO_ENABLED: '0', GOFLAGS: '' };
  await mkdir(GOCACHE, { recursive: true });
  await run(join(into, 'bin/go'), ['build', '-trimpath', ...COMPILED], { env, cwd: root, maxBuffer: MAX_OUTPUT });
  await run('chown', ['-R', '10001:10001', join(root, 'home/app')]);
  // Go writes the time of use of a file when that is older than an hour, which would copy it into a layer of each build
  await run('find', [GOCACHE, '-type', 'f', '-exec', 'touch', '-d', '2037-01-01', '{}', '+']);
}

/** With what they import, the standard packages of the servers that tests build. */
const COMPILED = [
  'database/sql/driver',
  'encoding/gob',
  'html/template',
  'log/slog',
  'net/http',
  'os/exec',
  'os/signal',
];

/** The certificates that this machine trusts, for builds that reach package registries as it does. */
export async function machineCertificates(): Promise<string> {
  const places = [process.env.NODE_EXTRA_CA_CERTS, process.env.SSL_CERT_FILE, '/etc/ssl/certs/ca-certificates.crt'];
  const file = places.find((path) => path !== undefined && existsSync(path));
  return file === undefined ? tls.rootCertificates.join('\n') : readFile(file, 'utf8');
}
