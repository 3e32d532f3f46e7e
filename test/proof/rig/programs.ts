import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend, PlanInput } from '@toolmgr/core';
import { onTestFinished } from 'vitest';

/** Registers a cleanup function for the end of a test or of the whole file. */
export type Later = (end: () => void | Promise<void>) => void;

const START_MS = 30_000;
const HARD = join(import.meta.dirname, 'hard-server.ts');
const BENCH = join(import.meta.dirname, '../../bench/backend.ts');
const GATEWAY = join(import.meta.dirname, 'gateway.ts');

/** A running HTTP program. */
export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  /** Kills it and waits for its end. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a script that prints `listening PORT`; it ends with the test. */
export async function startProgram(
  script: string,
  args: readonly string[],
  flags: readonly string[] = [],
  later: Later = onTestFinished,
): Promise<Program> {
  const child = spawn(process.execPath, ['--conditions=development', ...flags, script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  later(() => kill());
  const port = await portOf(child, script);
  return { child, pid: child.pid ?? 0, url: `http://127.0.0.1:${port}/mcp`, kill };
}

function portOf(child: ChildProcess, script: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${script} did not listen within ${START_MS} ms`)), START_MS);
    let text = '';
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}: ${text}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      if (text.includes('\n')) return;
      text += chunk.toString();
      const port = /^listening (\d+)/m.exec(text)?.[1];
      if (port === undefined) return;
      clearTimeout(late);
      resolve(Number(port));
    });
  });
}

/** A hard server over HTTP, and the lines it noted. */
export interface HardServer extends Program {
  notes(): readonly string[];
}

/** Starts one. */
export async function hardServer(era: 'legacy' | 'modern' | 'both' = 'both', later?: Later): Promise<HardServer> {
  const { file, notes } = ledger(later);
  return { ...(await startProgram(HARD, ['http', era, file], [], later)), notes };
}

/** A hard server as a stdio backend, and the lines it noted. */
export function hardStdio(
  options: { readonly helloMs?: number; readonly isDeaf?: boolean; readonly hasResources?: boolean } = {},
  later?: Later,
) {
  const { file, notes } = ledger(later);
  const args = ['--conditions=development', HARD, 'stdio', 'legacy', file, String(options.helloMs ?? 0)];
  const env: Record<string, string> = {
    ...(options.isDeaf === true ? { DEAF: '1' } : {}),
    ...(options.hasResources === true ? { RESOURCES: '1' } : {}),
  };
  const backend: Omit<Backend, 'name'> = { transport: 'stdio', command: { file: process.execPath, args, env } };
  return { backend, notes, file };
}

/** A file that another process writes lines to. */
function ledger(later: Later = onTestFinished) {
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-proof-'));
  later(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ledger');
  const read = (): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return ''; // nothing noted yet
    }
  };
  return {
    file,
    notes: () =>
      read()
        .split('\n')
        .filter((line) => line !== ''),
  };
}

/** The cheap backend of the bench: both eras, 10 tools. */
export function benchBackend(): Promise<Program> {
  return startProgram(BENCH, ['0', '10']);
}

/** A gateway in a process of its own. */
export interface GatewayProgram extends Program {
  counts(): Promise<Readonly<Record<string, number>>>;
  /** Memory after a full collection, in bytes. */
  memory(): Promise<NodeJS.MemoryUsage>;
  /** Memory as it is, in bytes. */
  memoryNow(): Promise<NodeJS.MemoryUsage>;
}

/** Starts a gateway in front of backends; callers are anonymous unless `incoming` authenticates them. */
export async function gatewayProgram(
  backends: readonly Backend[],
  plan: Partial<PlanInput> = {},
  later?: Later,
  incoming: PlanInput['plugins'][number] = { use: 'incoming-auth/anonymous' },
): Promise<GatewayProgram> {
  const plugins = [
    incoming,
    { use: 'outgoing-auth/unauthenticated' },
    { use: 'backend-sources/static', with: { backends } },
    { use: 'aggregation' },
    ...(plan.plugins ?? []),
  ];
  const program = await startProgram(GATEWAY, [JSON.stringify({ ...plan, plugins })], ['--expose-gc'], later);
  let lastId = 0;
  const ask = (what: string): Promise<unknown> => {
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the gateway did not report its ${what}`)), 20_000);
      const heard = (answer: { readonly id: number; readonly facts: unknown }): void => {
        if (answer.id !== id) return;
        clearTimeout(late);
        program.child.off('message', heard);
        resolve(answer.facts);
      };
      program.child.on('message', heard);
      program.child.send({ id, what });
    });
  };
  return {
    ...program,
    counts: () => ask('counts') as Promise<Readonly<Record<string, number>>>,
    memory: () => ask('memory') as Promise<NodeJS.MemoryUsage>,
    memoryNow: () => ask('rss') as Promise<NodeJS.MemoryUsage>,
  };
}
