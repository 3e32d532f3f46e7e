// `npm run bench -- --peer NAME` and `--gateway NAME=URL`: other MCP gateways, a bare forwarder and this gateway, in one run, in turns,
// with the same backend and the same clients. `npm run bench -- --backend` only serves the backend.
// The load is closed-loop: a connection sends the next call after the answer of the last one. Every answer is checked.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { checkedLoad, type EchoCalls, legacyEcho, modernEcho } from './checked-load.ts';
import { type Case, type Era, type Row, type Turn, tableOf } from './compare-table.ts';
import { startTargets, type Target, type TargetOptions } from './compare-targets.ts';
import { BACKEND_PORT, BACKEND_URLS } from './peers/backend-urls.ts';
import { OTHER_CORE, processTree, startProcess } from './processes.ts';

/** Options of a comparison. */
export interface CompareOptions extends TargetOptions {
  readonly connections: readonly number[];
  /** Bytes of the text that a call sends and gets back. */
  readonly payloads: readonly number[];
  readonly seconds: number;
  readonly turns: number;
  readonly json: string;
}

interface LeftOut {
  readonly gateway: string;
  /** What it is not measured in. */
  readonly what: string;
  readonly why: string;
}

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const WARM_UP_SECONDS = 2;
const IDLE_MS = 100;
const IDLE_CPU_MICROS = 10_000; // of IDLE_MS: one tick of the clock
const IDLE_WAIT_MS = 15_000;
const THREE_BACKENDS: Case = { backends: 'three', era: '2025-11-25', connections: 16, payloadBytes: 64 };

/** Serves the echo backend and prints how to configure a gateway in front of it, until the process ends. */
export async function serveBackend(): Promise<void> {
  await using _backend = await startBackend();
  console.log(configuration());
  console.log('Ctrl-C stops it.');
  await new Promise(() => {});
}

/** Measures all targets, prints a table and writes the raw results. */
export async function compare(options: CompareOptions): Promise<void> {
  await using running = new AsyncDisposableStack();
  const loadBefore = loadavg();
  running.use(await startBackend());
  if (options.gateways.length > 0) console.log(configuration());
  const { targets, failed } = await startTargets(options, running);
  const leftOut: LeftOut[] = failed.map(({ name, why }) => ({
    gateway: name,
    what: 'start',
    why,
  }));
  const rows: Row[] = [];
  const measureCase = async (given: Case, ready: readonly Target[]) => {
    for (const row of await inTurns(ready, given, { ...options, leftOut })) {
      console.log(tableOf([row]).split('\n').at(-1));
      rows.push(row);
    }
  };
  const one = targets.filter(({ backends }) => backends === 'one');
  const three = targets.filter(({ backends }) => backends === 'three');
  for (const era of ERAS) {
    const ready: Target[] = [];
    for (const target of one) {
      const why = await faultOf(target, era);
      if (why === undefined) ready.push(target);
      else leftOut.push({ gateway: target.name, what: era, why });
    }
    for (const connections of options.connections) {
      for (const payloadBytes of options.payloads)
        await measureCase({ backends: 'one', era, connections, payloadBytes }, ready);
    }
  }
  if (three.length > 0) await measureCase(THREE_BACKENDS, three);
  for (const { gateway, what, why } of leftOut) console.log(`${gateway} is left out (${what}): ${why}`);
  const record = {
    date: new Date().toISOString(),
    command: `npm run bench -- ${process.argv.slice(2).join(' ')}`,
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, memoryBytes: totalmem(), node: process.version },
    loadAverage: { before: loadBefore, after: loadavg() },
    load: 'wrk, one thread, closed loop',
    options,
    targets: targets.map(({ pid: _pid, ...target }) => target),
    leftOut,
    rows,
  };
  writeFileSync(options.json, `${JSON.stringify(record, undefined, 2)}\n`);
  console.log(`\n${tableOf(rows)}\nraw results: ${options.json}`);
}

function startBackend(): ReturnType<typeof startProcess> {
  return startProcess(OTHER_CORE, 'backend.ts', [String(BACKEND_PORT), '2', 'echo']);
}

function configuration(): string {
  const { far } = BACKEND_URLS.one;
  return [
    `the echo backend serves ${far} (streamable HTTP, no authentication, tool: echo)`,
    'put the gateway in front of it; most gateways read one of these:',
    JSON.stringify({ mcpServers: { far: { type: 'http', url: far } } }),
    `backends: [{ name: far, url: ${far}, transport: streamable-http }]`,
  ].join('\n');
}

async function faultOf(target: Target, era: Era): Promise<string | undefined> {
  try {
    const why = await (await callsOf(target, era, 1)).fault(target.tool);
    return why?.slice(0, 200);
  } catch (cause) {
    return String(cause).slice(0, 200);
  }
}

async function callsOf({ url }: Target, era: Era, connections: number): Promise<EchoCalls> {
  return era === '2026-07-28' ? modernEcho(url) : await legacyEcho(url, connections);
}

async function inTurns(
  targets: readonly Target[],
  given: Case,
  { seconds, turns, leftOut }: CompareOptions & { readonly leftOut: LeftOut[] },
): Promise<readonly Row[]> {
  const { era, connections, payloadBytes } = given;
  const measured = new Map<Target, { readonly calls: EchoCalls; readonly results: Turn[] }>();
  for (const target of targets) {
    try {
      measured.set(target, { calls: await callsOf(target, era, connections), results: [] });
    } catch (cause) {
      const why = String(cause).slice(0, 200);
      leftOut.push({ gateway: target.name, what: `${era}, ${connections} connections`, why });
    }
  }
  for (let turn = 0; turn < turns; turn++) {
    for (const [{ tool, pid }, { calls, results }] of measured) {
      const load = { calls, tool, connections, payloadBytes, pid };
      if (turn === 0) await checkedLoad({ ...load, seconds: WARM_UP_SECONDS });
      await idle(pid);
      const before = await backendCounts();
      const result = await checkedLoad({ ...load, seconds });
      await idle(pid);
      const after = await backendCounts();
      results.push({
        ...result,
        backendRequestsPerCall: (after.requests - before.requests) / Math.max(1, result.calls),
        backendSessionsPerCall: (after.initialize - before.initialize) / Math.max(1, result.calls),
      });
    }
  }
  return [...measured].map(([{ name }, { results }]) => ({ gateway: name, ...given, turns: results }));
}

/** Waits until a target has finished calls that wrk no longer waits for: they would slow the next target down. */
async function idle(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  const tree = processTree(pid);
  const lateMs = performance.now() + IDLE_WAIT_MS;
  for (let before = tree.cpuMicros(); performance.now() < lateMs; ) {
    await setTimeout(IDLE_MS);
    const now = tree.cpuMicros();
    if (now - before <= IDLE_CPU_MICROS) return;
    before = now;
  }
}

async function backendCounts(): Promise<{ readonly requests: number; readonly initialize: number }> {
  const response = await fetch(`http://127.0.0.1:${BACKEND_PORT}/counts`);
  return (await response.json()) as { requests: number; initialize: number };
}
