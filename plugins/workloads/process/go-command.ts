import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { SchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import { findProgram } from './find-program.ts';
import type { SchemeOutcome } from './scheme-outcome.ts';

const run = promisify(execFile);

type GoTarget = Extract<SchemeTarget, { scheme: 'go' }>;
type Environment = Readonly<Record<string, string | undefined>>;

const BUILD_MS = 600_000; // a first build compiles the standard library and downloads modules
const MAX_OUTPUT = 4 * 1_048_576;
const SHOWN_LINES = 15;

/**
 * The command for `go://`: `go run` of a published package, or the binary of a folder.
 *
 * A folder is built with `go build` into the user's cache, under the hash of its binary: a running server keeps its own.
 */
export async function goCommand(
  target: GoTarget,
  args: readonly string[],
  cwd: string,
  env: Environment,
): Promise<SchemeOutcome> {
  const named = 'folder' in target ? target.folder : target.package;
  const go = await findProgram('go', cwd, env.PATH ?? '');
  if (go.kind !== 'found') {
    const reason = `go://${named}: go is not on PATH. Install Go (https://go.dev/dl/, or the package golang-go of Debian)`;
    return { kind: 'refused', reason };
  }
  if ('folder' in target) return builtFolder(go.path, resolve(cwd, target.folder), args, env);
  const what = `${target.package}@${target.version}`;
  return {
    kind: 'command',
    command: { file: go.path, args: ['run', what, ...args], env: goVariables(env) },
    via: 'go',
  };
}

async function builtFolder(
  go: string,
  folder: string,
  args: readonly string[],
  env: Environment,
): Promise<SchemeOutcome> {
  const refused = (why: string): SchemeOutcome => ({ kind: 'refused', reason: `go://${folder}: ${why}` });
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) return refused('there is no such folder');
  const cache = join(env.XDG_CACHE_HOME || join(env.HOME ?? homedir(), '.cache'), 'toolmgr', 'go');
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const fresh = join(cache, `.${randomUUID()}`);
  try {
    await run(go, ['build', '-trimpath', '-buildvcs=false', '-o', fresh, '.'], {
      cwd: folder,
      env: { ...env },
      timeout: BUILD_MS,
      maxBuffer: MAX_OUTPUT,
    });
    if (!(await stat(fresh)).isFile()) return refused('it has no main package');
    const file = join(cache, await hashOf(fresh));
    await rename(fresh, file);
    return { kind: 'command', command: { file, args, env: {} }, via: 'built' };
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { readonly stderr?: string };
    const lines = (stderr.trim() || message).split('\n').slice(-SHOWN_LINES);
    return refused(`go build failed:\n  ${lines.join('\n  ')}`);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex').slice(0, 32);
}

/** Settings of Go that some networks require, without those that hold a password. */
function goVariables(env: Environment): Record<string, string> {
  return Object.fromEntries(
    GO_VARIABLES.flatMap((name) => {
      const value = env[name];
      return value === undefined || value.includes('@') ? [] : [[name, value] as const];
    }),
  );
}

const GO_VARIABLES = [
  ...['GOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GONOPROXY', 'GOPRIVATE', 'GOINSECURE', 'GOFLAGS', 'GOTOOLCHAIN'],
  ...['GOPATH', 'GOCACHE', 'GOMODCACHE', 'GOROOT'],
];
