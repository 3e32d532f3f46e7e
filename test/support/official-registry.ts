import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import { rig } from './rig.ts';
import { until } from './until.ts';

/** The server of the official MCP registry with a PostgreSQL of its own. */
export interface OfficialRegistry extends AsyncDisposable {
  readonly url: string;
  /** Publishes a `server.json` below `io.modelcontextprotocol.anonymous/`. */
  publish(record: object): Promise<void>;
  /** What it printed. */
  printed(): string;
}

const PROGRAMS = ['/usr/lib/postgresql/15/bin', '/usr/lib/postgresql/16/bin', '/usr/lib/postgresql/17/bin'];

/** Where the programs of PostgreSQL are; `undefined` when it is not installed. */
const postgresBin = PROGRAMS.find((folder) => existsSync(join(folder, 'initdb')));

/** Looked up once: tests change the folder of caches. */
const found = rig('mcp-registry');

/** Why there is no official registry here; `undefined` when there is one. In CI its absence is a fault. */
export function officialRegistryMissing(): string | undefined {
  if ('missing' in found) return found.missing;
  if (postgresBin !== undefined) return undefined;
  if (process.env.CI) throw new Error('no PostgreSQL (Debian: apt-get install postgresql)');
  return 'no PostgreSQL (Debian: apt-get install postgresql)';
}

/** Path of a file of the rig: the API description or the sample data. */
export function officialFile(name: 'openapi.yaml' | 'seed.json'): string {
  if ('missing' in found) throw new Error(found.missing);
  return join(found.folder, name);
}

/** Starts the server. `seed`: a file, or the URL of a registry that it imports. */
export async function startOfficialRegistry(seed: string): Promise<OfficialRegistry> {
  if ('missing' in found || postgresBin === undefined) throw new Error('no official registry');
  const dir = await mkdtemp(join(tmpdir(), 'toolmgr-official-'));
  const children: ChildProcess[] = [];
  const output: string[] = [];
  const stop = async (): Promise<void> => {
    process.off('exit', killAll);
    for (const child of children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  const killAll = (): void => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.on('exit', killAll);
  const start = (file: string, args: readonly string[], options: object = {}): ChildProcess => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    child.stdout?.on('data', (piece) => output.push(String(piece)));
    child.stderr?.on('data', (piece) => output.push(String(piece)));
    children.push(child);
    return child;
  };
  try {
    const database = await startDatabase(postgresBin, dir, start);
    const port = await getPort();
    const url = `http://127.0.0.1:${port}`;
    const server = start(join(found.folder, 'registry'), [], {
      env: {
        PATH: process.env.PATH,
        MCP_REGISTRY_SERVER_ADDRESS: `127.0.0.1:${port}`,
        MCP_REGISTRY_DATABASE_URL: database,
        MCP_REGISTRY_ENABLE_ANONYMOUS_AUTH: 'true',
        MCP_REGISTRY_ENABLE_REGISTRY_VALIDATION: 'false',
        MCP_REGISTRY_JWT_PRIVATE_KEY: 'b'.repeat(64),
        MCP_REGISTRY_SEED_FROM: seed,
      },
    });
    await until(async () => {
      if (server.exitCode !== null) throw new Error(`the registry ended: ${output.join('').slice(-2_000)}`);
      return (await fetch(`${url}/v0.1/health`).catch(() => undefined))?.ok === true;
    }, 30_000);
    return {
      url,
      printed: () => output.join(''),
      async publish(record) {
        const login = await fetch(`${url}/v0.1/auth/none`, { method: 'POST' });
        const { registry_token: token } = (await login.json()) as { registry_token: string };
        const answer = await fetch(`${url}/v0.1/publish`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(record),
        });
        if (!answer.ok) throw new Error(`publish: ${answer.status} ${await answer.text()}`);
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/** Starts a database; returns its URL. PostgreSQL refuses to run as root, so it runs as its own user there. */
async function startDatabase(
  bin: string,
  dir: string,
  start: (file: string, args: readonly string[], options?: object) => ChildProcess,
): Promise<string> {
  const identity = process.getuid?.() === 0 ? postgresUser() : undefined;
  if (identity !== undefined) {
    await chmod(dir, 0o755);
    await chown(dir, identity.uid, identity.gid);
  }
  const data = join(dir, 'data');
  const made = spawnSync(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync'], {
    encoding: 'utf8',
    cwd: dir,
    ...identity,
  });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const port = await getPort();
  const settings = ['fsync=off', 'listen_addresses=127.0.0.1', 'max_connections=150'];
  const flags = ['-D', data, '-p', String(port), '-k', dir, ...settings.flatMap((each) => ['-c', each])];
  start(join(bin, 'postgres'), flags, { cwd: dir, ...identity });
  const ready = () => spawnSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).status === 0;
  await until(async () => ready(), 30_000);
  return `postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`;
}

function postgresUser(): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
