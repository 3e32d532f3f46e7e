import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loopbackServer } from './loopback-server.ts';

/** Git's own `git http-backend` behind node:http. */
export interface GitServer extends AsyncDisposable {
  /** `127.0.0.1:PORT`, for references. */
  readonly host: string;
  /** Commits files to a branch of a repository, which is created at the first commit. Returns the commit. */
  commit(repository: string, files: Readonly<Record<string, string>>, more?: CommitOptions): Promise<string>;
  /** Runs git in the working folder of a repository. */
  git(repository: string, ...args: readonly string[]): string;
  /** The `authorization` headers of all requests. */
  readonly seen: readonly (string | undefined)[];
}

/** Options of a commit. */
export interface CommitOptions {
  readonly branch?: string;
  readonly tag?: string;
}

/** Why there is no git here; `undefined` when there is one. Never a reason in CI. */
export function gitMissing(): string | undefined {
  if (process.env.CI) return undefined;
  return spawnSync('git', ['--version']).status === 0 ? undefined : 'no git on this machine';
}

/** Starts a server at a loopback port. `login`: `user:password` that every request needs. */
export async function startGitServer(login?: string): Promise<GitServer> {
  const root = await mkdtemp(join(tmpdir(), 'toolmgr-git-'));
  const seen: (string | undefined)[] = [];
  const server = await loopbackServer((request, response) => {
    const { authorization } = request.headers;
    seen.push(authorization);
    if (login !== undefined && authorization !== `Basic ${Buffer.from(login).toString('base64')}`) {
      request.resume();
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    }
    if (request.url?.startsWith('/renamed/')) {
      const location = request.url.replace('/renamed/', '/org/');
      return void response.writeHead(301, { location }).end();
    }
    backend(join(root, 'served'), request, response);
  });
  const git = (repository: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
      cwd: join(root, 'work', repository),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', ...AUTHOR },
    }).trim();
  return {
    host: `127.0.0.1:${server.port}`,
    seen,
    git,
    async commit(repository, files, { branch = 'main', tag } = {}) {
      const work = join(root, 'work', repository);
      const served = join(root, 'served', repository);
      await mkdir(work, { recursive: true });
      if (spawnSync('git', ['rev-parse', '--git-dir'], { cwd: work }).status !== 0) {
        await mkdir(served, { recursive: true });
        execFileSync('git', ['init', '-q', '--bare', '-b', 'main', served]);
        git(repository, 'init', '-q');
        git(repository, 'remote', 'add', 'origin', served);
      }
      git(repository, 'checkout', '-q', '-B', branch);
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(work, path)), { recursive: true });
        await writeFile(join(work, path), content);
      }
      git(repository, 'add', '-A');
      git(repository, 'commit', '-q', '--allow-empty', '-m', 'change');
      if (tag !== undefined) git(repository, 'tag', '-a', tag, '-m', tag);
      git(repository, 'push', '-q', '--force', '--tags', 'origin', branch);
      return git(repository, 'rev-parse', 'HEAD');
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
};

/** Runs the backend as CGI. Source: git-http-backend(1), RFC 3875. */
function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  child.once('close', () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf('\r\n\r\n');
    const headers = new Map(
      all
        .toString('latin1', 0, end)
        .split('\r\n')
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const status = Number.parseInt(headers.get('status') ?? '200', 10);
    headers.delete('status');
    response.writeHead(status, Object.fromEntries(headers)).end(all.subarray(end + 4));
  });
}
