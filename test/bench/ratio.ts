// The ratio that CI checks: calls of the gateway in the CPU time of one call of the bare forwarder.
// Both run on the same core, in turns; the best of several turns counts, because noise only adds time.
// The load tool is wrk, which is cheap enough to keep the measured core busy. A target that waits between requests pays for
// wake-ups; both targets pay the same, so the ratio would look better than it is. Without wrk our own loader is used and
// compared with its own recorded ratio; `--loader` selects it.
// Flags: --undici uses undici for requests to the backend, to compare with a run without it;
// --check compares with docs/project/benchmarks-ratio.json, --record measures with both and writes it.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measure } from './load.ts';
import { type BenchProcess, MEASURED_CORE, OTHER_CORE, startProcess } from './processes.ts';
import { modernRequests } from './requests.ts';

/** One way to load a target, and with how many connections. */
interface Load {
  readonly by: 'wrk' | 'loader';
  readonly connections: number;
}

/** Result of one load: CPU microseconds per call, used shares of the core, and the ratio. */
interface Row extends Load {
  readonly bareMicros: number;
  readonly gatewayMicros: number;
  readonly bareBusy: number;
  readonly gatewayBusy: number;
  readonly ratio: number;
}

interface Turn {
  readonly micros: number;
  readonly busy: number;
}

const FILE = join(import.meta.dirname, '..', '..', 'docs', 'project', 'benchmarks-ratio.json');
const COMMAND = 'npm run bench:ratio -- --record';
const MAX_DROP = 0.15; // of the lowest recorded ratio: on a shared machine runs differ by a fifth
const WARM_UP_SECONDS = 5;
const TURN_SECONDS = 2;
const TURNS = 5;
const TRIES = 3; // retries for a machine that was busy
const SATURATING: readonly Load[] = [
  { by: 'wrk', connections: 16 },
  { by: 'wrk', connections: 128 },
];
const LOADER: readonly Load[] = [{ by: 'loader', connections: 32 }];

const hasWrk = spawnSync('wrk', ['--version']).error === undefined;
const isChecking = process.argv.includes('--check');
const clientFlags = process.argv.includes('--undici') ? ['--http-client', 'undici'] : [];
const isRecording = process.argv.includes('--record');
if (isRecording && !hasWrk) throw new Error('recording needs wrk: apt-get install wrk');
const loads = isRecording
  ? [...SATURATING, ...LOADER]
  : !hasWrk || process.argv.includes('--loader')
    ? LOADER
    : SATURATING;
let dropped = await tryOnce();
for (let attempt = 1; dropped.length > 0 && attempt < TRIES; attempt++) dropped = await tryOnce();
for (const { by, connections, ratio } of dropped) {
  const before = recordedRatio({ by, connections });
  console.error(
    `${by}, ${connections} connections: the ratio was ${before} when it was recorded, now ${ratio}: more than ${MAX_DROP * 100} % less`,
  );
  process.exitCode = 1;
}

/** Measures all loads; returns the rows that a check finds too low. */
async function tryOnce(): Promise<readonly Row[]> {
  const rows = await measureRows(loads);
  for (const row of rows) console.log(sentenceOf(row));
  if (isRecording) {
    const withLowest = rows.map((row) => ({
      ...row,
      lowest: Math.min(row.ratio, recordedRow(row)?.lowest ?? row.ratio),
    }));
    const record = { date: new Date().toISOString(), command: COMMAND, rows: withLowest };
    writeFileSync(FILE, `${JSON.stringify(record, undefined, 2)}\n`);
  }
  return isChecking ? rows.filter((row) => row.ratio < recordedRatio(row) * (1 - MAX_DROP)) : [];
}

function sentenceOf({ by, connections, ratio, bareMicros, gatewayMicros, bareBusy, gatewayBusy }: Row): string {
  const cpu = `CPU per call: bare forwarder ${bareMicros} µs, gateway ${gatewayMicros} µs`;
  const busy = `core busy ${Math.round(bareBusy * 100)} % and ${Math.round(gatewayBusy * 100)} %`;
  return `${by}, ${connections} connections: calls per CPU second, gateway over bare forwarder: ${ratio} (${cpu}; ${busy})`;
}

async function measureRows(all: readonly Load[]): Promise<readonly Row[]> {
  await using backend = await startProcess(OTHER_CORE, 'backend.ts', ['0', '10']);
  await using forwarder = await startProcess(MEASURED_CORE, 'forwarder.ts', [backend.url]);
  await using gateway = await startProcess(MEASURED_CORE, 'gateway.mjs', [
    'modern',
    `far=${backend.url}`,
    ...clientFlags,
  ]);
  const targets = { bare: { target: forwarder, tool: 'tool_0' }, gateway: { target: gateway, tool: 'far_tool_0' } };
  const rows: Row[] = [];
  for (const load of all) {
    for (const { target, tool } of Object.values(targets)) await turn(target, tool, load, WARM_UP_SECONDS);
    let bare: Turn = { micros: Number.POSITIVE_INFINITY, busy: 0 };
    let ours = bare;
    for (let n = 0; n < TURNS; n++) {
      bare = cheaper(bare, await turn(targets.bare.target, targets.bare.tool, load, TURN_SECONDS));
      ours = cheaper(ours, await turn(targets.gateway.target, targets.gateway.tool, load, TURN_SECONDS));
    }
    rows.push({
      ...load,
      bareMicros: rounded(bare.micros, 1),
      gatewayMicros: rounded(ours.micros, 1),
      bareBusy: rounded(bare.busy, 2),
      gatewayBusy: rounded(ours.busy, 2),
      ratio: rounded(bare.micros / ours.micros, 3),
    });
  }
  return rows;
}

function cheaper(one: Turn, other: Turn): Turn {
  return other.micros < one.micros ? other : one;
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** CPU microseconds per call of one process while it is loaded, and its share of the core. */
async function turn(target: BenchProcess, tool: string, load: Load, seconds: number): Promise<Turn> {
  const before = target.cpuMicros();
  const startedMs = performance.now();
  const { requests, failures } = await loadBy(load, target, tool, seconds);
  const micros = target.cpuMicros() - before;
  if (failures > 0 || requests === 0) throw new Error(`${failures} of ${requests} calls to ${target.url} failed`);
  return { micros: micros / requests, busy: Math.min(1, micros / 1000 / (performance.now() - startedMs)) };
}

interface Loaded {
  readonly requests: number;
  readonly failures: number;
}

function loadBy({ by, connections }: Load, target: BenchProcess, tool: string, seconds: number): Promise<Loaded> {
  if (by === 'wrk') return measure(target, modernRequests().call(tool), connections, seconds);
  return loadByOurOwn(target.url, tool, connections, seconds);
}

function loadByOurOwn(url: string, tool: string, connections: number, seconds: number): Promise<Loaded> {
  const loader = join(import.meta.dirname, 'loader.mjs');
  const args = ['-c', OTHER_CORE, process.execPath, loader, url, String(connections), String(seconds)];
  const child = spawn('taskset', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(modernRequests().call(tool)));
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve(JSON.parse(out)) : reject(new Error(`the loader ended with ${code}`)),
    );
  });
}

/** The lowest ratio that was recorded for the same load. */
function recordedRatio(load: Load): number {
  const row = recordedRow(load);
  if (row !== undefined) return row.lowest;
  throw new Error(`no ratio is recorded for ${load.by} with ${load.connections} connections: ${COMMAND}`);
}

function recordedRow({ by, connections }: Load): (Row & { readonly lowest: number }) | undefined {
  const { rows } = JSON.parse(readFileSync(FILE, 'utf8')) as { rows: readonly (Row & { readonly lowest: number })[] };
  return rows.find((row) => row.by === by && row.connections === connections);
}
