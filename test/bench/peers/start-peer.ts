import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runTool } from '../../../scripts/rigs/run-tool.ts';
import { MEASURED_CORE, processTree } from '../processes.ts';
import type { Backends, Peer } from './peer.ts';

const ROOT = join(import.meta.dirname, '../../..');
const START_MS = 120_000;
const END_MS = 5_000;
const LOG_SHOWN = 2_000; // last characters of the log of a gateway that did not start

/** A gateway on the measured core. */
export interface StartedPeer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Installs a gateway in the user's cache, unless this version is there. */
export async function installPeer(name: string, peer: Peer): Promise<void> {
  const home = homeOf(name, peer);
  if (peer.install.length === 0 || existsSync(join(home, 'installed'))) return;
  console.log(`${name} ${peer.version} is installed in ${home}; a build takes minutes`);
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  for (const command of peer.install) {
    const [program = '', ...rest] = command.map((part) => filled(part, { home, files: filesOf(name) }));
    await runTool(program, rest, { env: { GOBIN: join(home, 'bin'), CGO_ENABLED: '0' } });
  }
  mkdirSync(join(home, 'installed')); // an incomplete installation never has it
}

/**
 * Starts a gateway in an empty folder and waits until it accepts connections.
 * @throws Error with the end of its log when it does not
 */
export async function startPeer(name: string, peer: Peer, backends: Backends): Promise<StartedPeer> {
  const home = homeOf(name, peer);
  const port = peer.ports[backends];
  const scratch = mkdtempSync(join(tmpdir(), `toolmgr-bench-${name}-`));
  const logFile = join(scratch, 'log');
  const log = openSync(logFile, 'w');
  const environment = peer.environment?.() ?? {};
  const command = peer.start.map((part) =>
    filled(part, { root: ROOT, home, files: filesOf(name), backends, port: String(port) }),
  );
  const child = spawn('taskset', ['-c', MEASURED_CORE, ...command], {
    cwd: scratch,
    env: { ...process.env, ...environment },
    stdio: ['ignore', log, log],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} was not started: is taskset installed?`);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const started: StartedPeer = {
    url: `http://127.0.0.1:${port}${peer.path}`,
    pid,
    async [Symbol.asyncDispose]() {
      const tree = processTree(pid);
      if (child.exitCode === null) tree.signal('SIGTERM');
      await Promise.race([ended, setTimeout(END_MS, undefined, { ref: false })]);
      if (child.exitCode === null && child.signalCode === null) tree.signal('SIGKILL');
      rmSync(scratch, { recursive: true, force: true });
    },
  };
  try {
    const origin = `http://127.0.0.1:${port}`;
    await accepting(origin, () => child.exitCode !== null);
    await peer.register?.({ home, origin, backends, environment });
    return started;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const said = readFileSync(logFile, 'utf8').slice(-LOG_SHOWN);
    await started[Symbol.asyncDispose]();
    throw new Error(`${name} did not start: ${why}\n${said}`);
  }
}

function homeOf(name: string, { version }: Peer): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'toolmgr', 'peers', `${name}-${version}`);
}

function filesOf(name: string): string {
  return join(import.meta.dirname, name);
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

async function accepting(origin: string, hasEnded: () => boolean): Promise<void> {
  const lateMs = performance.now() + START_MS;
  while (performance.now() < lateMs) {
    if (hasEnded()) throw new Error('the program ended');
    try {
      await (await fetch(origin, { signal: AbortSignal.timeout(START_MS) })).arrayBuffer();
      return; // any status
    } catch {
      await setTimeout(100);
    }
  }
  throw new Error(`it accepts no connection after ${START_MS} ms`);
}
