// Two ratios of CPU time per call: the bare forwarder's to the gateway's, and that of an earlier revision of the gateway to today's.
// All run on the same core. The forwarder and the gateway take turns, of which the best counts, because noise only adds time.
// The earlier revision and today's are loaded at the same time: whatever slows the machine slows both, and two processes of
// one build differ by 5 %, where turns differed by 20 %. CI checks the second ratio, because the first depends on the machine:
// memory and caches that are shared with others cost the gateway more than the small forwarder.
// The load tool is wrk, which is cheap enough to keep the measured core busy. A target that waits between requests pays for
// wake-ups; both targets pay the same, so the ratio would look better than it is. Without wrk our own loader is used and
// compared with its own recorded ratio; `--loader` selects it.
// Flags: --undici uses undici for requests to the backend, to compare with a run without it;
// --against REVISION builds that revision and measures it too; --check does so with the revision of
// docs/project/benchmarks-ratio.json, or compares with the ratios there when the repository does not have it;
// --record measures with both loads and writes that file, with the revision of --against or the one that is checked out.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildRevision } from './earlier-build.ts';
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
  /** CPU time per call of the earlier revision over that of today's: less than 1 is slower than before. */
  readonly earlier?: number;
}

/** What was recorded: the revision that the check compares with, and ratios to the bare forwarder. */
interface Recorded {
  readonly date: string;
  readonly command: string;
  readonly revision: string;
  readonly rows: readonly (Row & { readonly lowest: number })[];
}

interface Turn {
  readonly micros: number;
  readonly busy: number;
}

const FILE = join(import.meta.dirname, '..', '..', 'docs', 'project', 'benchmarks-ratio.json');
const COMMAND = 'npm run bench:ratio -- --record';
const MAX_DROP = 0.15; // of the speed
const WARM_UP_SECONDS = 5;
const TURN_SECONDS = 1;
const TURNS = 10;
const TOGETHER_SECONDS = 15; // of the earlier revision and today's, at the same time
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
const revision = revisionToCompare();
using earlierBuild = revision === undefined ? undefined : buildRevision(revision);
if (revision !== undefined && earlierBuild === undefined) {
  console.log(`the repository has no revision ${revision}: compared with the recorded ratios to the bare forwarder`);
}
let dropped = await tryOnce(loads);
for (let attempt = 1; dropped.length > 0 && attempt < TRIES; attempt++) dropped = await tryOnce(dropped);
for (const row of dropped) {
  const load = `${row.by}, ${row.connections} connections`;
  const change =
    row.earlier === undefined
      ? `the ratio to the bare forwarder was ${lowestOf(row)} when it was recorded, now ${row.ratio}`
      : `the calls per CPU second of revision ${revision} were 1, now ${row.earlier}`;
  console.error(`${load}: ${change}: more than ${MAX_DROP * 100} % less`);
  process.exitCode = 1;
}

function revisionToCompare(): string | undefined {
  const at = process.argv.indexOf('--against');
  if (at !== -1) return process.argv[at + 1] ?? fail('--against needs a revision');
  return isChecking ? recorded().revision : undefined;
}

function headRevision(): string {
  return spawnSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).stdout.trim();
}

function fail(message: string): never {
  throw new Error(message);
}

/** Measures loads; returns the rows that a check finds too low. */
async function tryOnce(tried: readonly Load[]): Promise<readonly Row[]> {
  const rows = await measureRows(tried);
  for (const row of rows) console.log(sentenceOf(row));
  if (isRecording) {
    const withLowest = rows.map((row) => ({
      ...row,
      lowest: Math.min(row.ratio, recordedRow(row)?.lowest ?? row.ratio),
    }));
    const record: Recorded = {
      date: new Date().toISOString(),
      command: COMMAND,
      revision: revision ?? headRevision(),
      rows: withLowest,
    };
    writeFileSync(FILE, `${JSON.stringify(record, undefined, 2)}\n`);
  }
  return isChecking ? rows.filter((row) => (row.earlier ?? row.ratio / lowestOf(row)) < 1 - MAX_DROP) : [];
}

function sentenceOf(row: Row): string {
  const { by, connections, ratio, earlier, bareMicros, gatewayMicros, bareBusy, gatewayBusy } = row;
  const cpu = `CPU per call: bare forwarder ${bareMicros} µs, gateway ${gatewayMicros} µs`;
  const busy = `core busy ${Math.round(bareBusy * 100)} % and ${Math.round(gatewayBusy * 100)} %`;
  const before = earlier === undefined ? '' : `, over revision ${revision}: ${earlier}`;
  return `${by}, ${connections} connections: calls per CPU second, gateway over bare forwarder: ${ratio}${before} (${cpu}; ${busy})`;
}

async function measureRows(all: readonly Load[]): Promise<readonly Row[]> {
  await using backend = await startProcess(OTHER_CORE, 'backend.ts', ['0', '10']);
  await using forwarder = await startProcess(MEASURED_CORE, 'forwarder.ts', [backend.url]);
  const args = ['modern', `far=${backend.url}`, ...clientFlags];
  await using gateway = await startProcess(MEASURED_CORE, 'gateway.mjs', args);
  await using before =
    earlierBuild &&
    (await startProcess(MEASURED_CORE, join(earlierBuild.folder, 'test', 'bench', 'gateway.mjs'), args));
  const rows: Row[] = [];
  for (const load of all) {
    const callBare = (seconds: number) => turn(forwarder, 'tool_0', load, seconds);
    const callOurs = (seconds: number) => turn(gateway, 'far_tool_0', load, seconds);
    await callBare(WARM_UP_SECONDS);
    await callOurs(WARM_UP_SECONDS);
    let bare: Turn = { micros: Number.POSITIVE_INFINITY, busy: 0 };
    let ours = bare;
    for (let n = 0; n < TURNS; n++) {
      bare = cheaper(bare, await callBare(TURN_SECONDS));
      ours = cheaper(ours, await callOurs(TURN_SECONDS));
    }
    let earlier: number | undefined;
    if (before) {
      const both = (seconds: number) => Promise.all([turn(before, 'far_tool_0', load, seconds), callOurs(seconds)]);
      await both(2 * WARM_UP_SECONDS); // today's has had more calls so far
      const [old, now] = await both(TOGETHER_SECONDS);
      earlier = rounded(old.micros / now.micros, 3);
    }
    rows.push({
      ...load,
      bareMicros: rounded(bare.micros, 1),
      gatewayMicros: rounded(ours.micros, 1),
      bareBusy: rounded(bare.busy, 2),
      gatewayBusy: rounded(ours.busy, 2),
      ratio: rounded(bare.micros / ours.micros, 3),
      ...(earlier !== undefined && { earlier }),
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
    child.once('close', (code) =>
      code === 0 ? resolve(JSON.parse(out)) : reject(new Error(`the loader ended with ${code}`)),
    );
  });
}

/** The lowest ratio to the bare forwarder that was recorded for the same load, on any machine. */
function lowestOf(load: Load): number {
  return (
    recordedRow(load)?.lowest ??
    fail(`no ratio is recorded for ${load.by} with ${load.connections} connections: ${COMMAND}`)
  );
}

function recordedRow({ by, connections }: Load): Recorded['rows'][number] | undefined {
  return recorded().rows.find((row) => row.by === by && row.connections === connections);
}

function recorded(): Recorded {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recorded;
}
