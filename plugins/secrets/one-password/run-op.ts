import { spawn } from 'node:child_process';
import { GatewayFault } from '@toolmgr/core';

/** How the program of 1Password is run. */
export interface OpOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Name or path of the program. Default: `op`. */
  readonly program?: string;
  readonly timeoutMs?: number;
}

/** The program ended with an error. `reason` says which kind; the text of the program is not kept, because it may have secrets. */
export class OpError extends Error {
  readonly reason: 'missing' | 'sign-in' | 'other';
  constructor(reason: OpError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Runs the program of 1Password without a shell. Values are only in its output, which is kept in memory.
 * @throws OpError; GatewayFault SECRETS_UNAVAILABLE when it cannot be run, takes too long or prints too much
 */
export async function runOp(args: readonly string[], options: OpOptions, signal: AbortSignal): Promise<string> {
  const { env, program = 'op', timeoutMs = OP_MS } = options;
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const child = spawn(program, [...args], {
    env: passed(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: false,
    signal: timeout,
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  const out = collected(child.stdout, () => child.kill('SIGKILL'));
  const err = collected(child.stderr, () => child.kill('SIGKILL'));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) => reject(unavailable(cause, timeout, timeoutMs)));
    child.once('close', resolve);
  });
  if (out.isTooLong() || err.isTooLong())
    throw new GatewayFault('SECRETS_UNAVAILABLE', 'the program op of 1Password prints too much');
  if (code === 0) return out.text();
  throw errorFrom(err.text(), code);
}

function unavailable(cause: NodeJS.ErrnoException, signal: AbortSignal, timeoutMs: number): GatewayFault {
  if (signal.aborted)
    return new GatewayFault(
      'SECRETS_UNAVAILABLE',
      `the program op of 1Password did not answer within ${timeoutMs / 1000} s`,
    );
  const why =
    cause.code === 'ENOENT'
      ? 'is not installed: see developer.1password.com/docs/cli'
      : `cannot be run (${cause.code})`;
  return new GatewayFault('SECRETS_UNAVAILABLE', `the program op of 1Password ${why}`);
}

function collected(stream: NodeJS.ReadableStream, stop: () => void) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
    else stop();
  });
  return { text: () => Buffer.concat(chunks).toString('utf8'), isTooLong: () => bytes > MAX_BYTES };
}

function errorFrom(text: string, code: number | null): OpError {
  if (/isn't (an?|the) |is not an? |not found|could not (find|resolve|get item)|no item|doesn't exist/i.test(text))
    return new OpError('missing', 'there is no such item in 1Password');
  if (/sign ?in|signed in|service account|token|authoriz|authentic|session/i.test(text))
    return new OpError('sign-in', 'op is not signed in to 1Password: set OP_SERVICE_ACCOUNT_TOKEN, or run op signin');
  return new OpError('other', `the program op of 1Password ended with code ${code}`);
}

/** The program gets what it needs to find its account, and nothing else of our environment. */
function passed(env: OpOptions['env']): NodeJS.ProcessEnv {
  const names = Object.keys(env).filter((name) => PASSED.has(name) || /^(OP|XDG)_/.test(name));
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

const PASSED = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'TMPDIR',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'SystemRoot',
]);
const OP_MS = 30_000;
const MAX_BYTES = 8 * 1024 * 1024;
