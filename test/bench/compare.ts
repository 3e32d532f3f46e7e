// `npm run bench -- --gateway NAME=URL`: any running MCP gateway, a bare forwarder and this gateway, in one run, in turns, with the
// same backend and the same clients. `npm run bench -- --backend` only serves the backend and prints how to configure a gateway.
// The load is closed-loop: a connection sends the next call after the answer of the last one. Every answer is checked.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { type Checked, checkedLoad, type EchoCalls, legacyEcho, modernEcho } from './checked-load.ts';
import { MEASURED_CORE, OTHER_CORE, processTree, startProcess } from './processes.ts';

/** Options of a comparison. */
export interface CompareOptions {
  /** `NAME=URL` of running gateways. */
  readonly gateways: readonly string[];
  /** Their process ids, in the same order; without one neither CPU nor memory is measured. */
  readonly pids: readonly string[];
  /** Name of the echo tool at these gateways; by default the listed tool whose name ends with `echo`. */
  readonly tool: string | undefined;
  /** Port of the echo backend. */
  readonly port: string;
  readonly connections: readonly number[];
  /** Bytes of the text that a call sends and gets back. */
  readonly payloads: readonly number[];
  readonly seconds: number;
  readonly turns: number;
  readonly json: string;
}

interface Target {
  readonly name: string;
  readonly url: string;
  readonly pid: number | undefined;
  readonly tool: string;
}

interface Row {
  readonly gateway: string;
  readonly era: Era;
  readonly connections: number;
  readonly payloadBytes: number;
  /** Every turn, in order. */
  readonly turns: readonly Checked[];
}

type Era = '2025-11-25' | '2026-07-28';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const WAIT_MS = 180_000; // until a gateway lists the echo tool
const WARM_UP_SECONDS = 3;

/** Serves the echo backend and prints how to configure a gateway in front of it, until the process ends. */
export async function serveBackend(port: string): Promise<void> {
  await using backend = await startProcess(OTHER_CORE, 'backend.ts', [port, '0', 'echo']);
  console.log(configuration(backend.url));
  console.log('Ctrl-C stops it.');
  await new Promise(() => {});
}

/** Measures all targets, prints a table and writes the raw results. */
export async function compare(options: CompareOptions): Promise<void> {
  await using backend = await startProcess(OTHER_CORE, 'backend.ts', [options.port, '0', 'echo']);
  console.log(configuration(backend.url));
  await using forwarder = await startProcess(MEASURED_CORE, 'forwarder.ts', [backend.url]);
  await using ours = await startProcess(MEASURED_CORE, 'gateway.mjs', ['auto', `far=${backend.url}`]);
  const targets: Target[] = [
    { name: 'bare forwarder', url: forwarder.url, pid: forwarder.pid, tool: 'echo' },
    { name: 'toolmgr', url: ours.url, pid: ours.pid, tool: 'far_echo' },
  ];
  for (const [n, given] of options.gateways.entries()) {
    targets.push(await otherTarget(given, options.pids[n], options.tool));
  }
  const idleBytes = Object.fromEntries(targets.map(({ name, pid }) => [name, pid && processTree(pid).residentBytes()]));
  const rows: Row[] = [];
  for (const era of ERAS) {
    const ready = await speaking(targets, era);
    for (const connections of options.connections) {
      for (const payloadBytes of options.payloads) {
        const done = await inTurns(ready, { era, connections, payloadBytes }, options);
        for (const row of done) console.log(lineOf(row));
        rows.push(...done);
      }
    }
  }
  const record = {
    date: new Date().toISOString(),
    command: `npm run bench -- ${process.argv.slice(2).join(' ')}`,
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, memoryBytes: totalmem(), node: process.version },
    loadAverage: loadavg(),
    load: 'wrk, one thread, closed loop',
    options,
    idleBytes,
    rows,
  };
  writeFileSync(options.json, `${JSON.stringify(record, undefined, 2)}\n`);
  console.log(`\n${tableOf(rows, idleBytes)}\nraw results: ${options.json}`);
}

function configuration(url: string): string {
  return [
    `the echo backend serves ${url} (streamable HTTP, no authentication, tool: echo)`,
    'put the gateway in front of it; most gateways read one of these:',
    JSON.stringify({ mcpServers: { far: { type: 'http', url } } }),
    `backends: [{ name: far, url: ${url}, transport: streamable-http }]`,
  ].join('\n');
}

async function otherTarget(given: string, pid: string | undefined, tool: string | undefined): Promise<Target> {
  const at = given.indexOf('=');
  if (at < 1) throw new Error(`--gateway ${given}: expected NAME=URL`);
  const [name, url] = [given.slice(0, at), given.slice(at + 1)];
  if (pid === undefined)
    console.log(`${name} has no --pid: it is not put on the measured core, and has no CPU and memory figures`);
  else processTree(Number(pid)).moveTo(MEASURED_CORE);
  const lateMs = performance.now() + WAIT_MS;
  for (let why = ''; ; await setTimeout(500)) {
    try {
      const found =
        tool ?? (await (await legacyEcho(url, 1)).toolNames()).find((each) => /(?:^|[^a-z])echo$/.test(each));
      if (found !== undefined) return { name, url, pid: pid === undefined ? undefined : Number(pid), tool: found };
      why = 'it lists no tool whose name ends with echo; --tool NAME names it';
    } catch (cause) {
      why = cause instanceof Error ? cause.message : String(cause);
    }
    if (performance.now() > lateMs) throw new Error(`${name} at ${url}: ${why}`);
  }
}

/** The targets that serve an era, with a correct answer to a call. */
async function speaking(targets: readonly Target[], era: Era): Promise<readonly Target[]> {
  const ready: Target[] = [];
  for (const target of targets) {
    const why = await (await callsOf(target, era, 1)).fault(target.tool).catch((cause: unknown) => String(cause));
    if (why === undefined) ready.push(target);
    else console.log(`${target.name} is left out with ${era}: ${why.slice(0, 200)}`);
  }
  return ready;
}

async function callsOf({ url }: Target, era: Era, connections: number): Promise<EchoCalls> {
  return era === '2026-07-28' ? modernEcho(url) : await legacyEcho(url, connections);
}

async function inTurns(
  targets: readonly Target[],
  { era, connections, payloadBytes }: Pick<Row, 'era' | 'connections' | 'payloadBytes'>,
  { seconds, turns }: CompareOptions,
): Promise<readonly Row[]> {
  const rows = new Map(targets.map((target) => [target, [] as Checked[]]));
  for (let turn = 0; turn < turns; turn++) {
    for (const [target, results] of rows) {
      const calls = await callsOf(target, era, connections);
      const load = { calls, tool: target.tool, connections, payloadBytes, pid: target.pid };
      if (turn === 0) await checkedLoad({ ...load, seconds: WARM_UP_SECONDS });
      results.push(await checkedLoad({ ...load, seconds }));
    }
  }
  return [...rows].map(([{ name }, results]) => ({ gateway: name, era, connections, payloadBytes, turns: results }));
}

/** The turn with the median number of calls per second. */
function median(turns: readonly Checked[]): Checked | undefined {
  return [...turns].sort((a, b) => a.callsPerSecond - b.callsPerSecond)[Math.floor(turns.length / 2)];
}

const COLUMNS = [
  'gateway',
  'revision',
  'connections',
  'text',
  'calls/s',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'CPU µs per call',
  'resident MB',
  'wrong or failed',
];

function cellsOf({ gateway, era, connections, payloadBytes, turns }: Row): readonly string[] {
  const turn = median(turns);
  if (turn === undefined) return [];
  const wrong = turns.reduce((sum, each) => sum + each.wrong + each.failed, 0);
  return [
    gateway,
    era,
    String(connections),
    `${payloadBytes} B`,
    String(Math.round(turn.callsPerSecond)),
    turn.p50Ms.toFixed(2),
    turn.p95Ms.toFixed(2),
    turn.p99Ms.toFixed(2),
    turn.cpuMicrosPerCall === undefined ? '-' : turn.cpuMicrosPerCall.toFixed(0),
    turn.residentBytes === undefined ? '-' : (turn.residentBytes / 1e6).toFixed(0),
    String(wrong),
  ];
}

const lineOf = (row: Row): string => cellsOf(row).join(' | ');

function tableOf(rows: readonly Row[], idleBytes: Readonly<Record<string, number | undefined>>): string {
  const lines = [COLUMNS, COLUMNS.map((_name, n) => (n < 2 ? '---' : '---:')), ...rows.map(cellsOf)];
  const idle = Object.entries(idleBytes).flatMap(([name, bytes]) =>
    bytes === undefined ? [] : [`${name} ${(bytes / 1e6).toFixed(0)} MB`],
  );
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\nresident memory before the load: ${idle.join(', ')}`;
}
