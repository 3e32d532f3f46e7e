import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { leastCpu, medianTurn, type Row } from '../../test/bench/compare-table.ts';
import type { Target } from '../../test/bench/compare-targets.ts';
import { code, page, table } from './markdown.ts';
import { ROOT } from './sources.ts';

/** Path of the page. */
export const GATEWAYS_PAGE = 'docs/project/benchmarks-gateways.md';

const RESULTS = 'docs/project/benchmarks-gateways.json';
const OURS = 'toolmgr';
/** Above this share of the measured core for other programs, calls per second and delays are not published. */
const QUIET = 0.1;
const FULL = 0.95; // of the core of the backend and of wrk

interface Results {
  readonly date: string;
  readonly command: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string };
  readonly loadAverage: { readonly before: readonly number[]; readonly after: readonly number[] };
  readonly options: { readonly seconds: number; readonly turns: number };
  readonly targets: readonly Target[];
  readonly leftOut: readonly { readonly gateway: string; readonly what: string; readonly why: string }[];
  readonly rows: readonly Row[];
}

/** docs/project/benchmarks-gateways.md, or `undefined` without results. */
export function gatewaysPage(): string | undefined {
  const file = join(ROOT, RESULTS);
  return existsSync(file) ? pageOf(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

/** The page of some results. */
export function pageOf(results: Results): string {
  const { rows, targets } = results;
  const isQuiet = disturbance(rows) <= QUIET;
  return page('Other gateways, measured', `[the raw results](benchmarks-gateways.json)`, [
    'toolmgr, a bare forwarder and other gateways in front of one echo backend, each on one core of one machine. [How it is measured, and what the figures do not say](benchmarks.md#other-gateways).',
    runOf(results, isQuiet),
    '## What was measured',
    table(
      ['gateway', 'version', 'language', 'settings'],
      unique(targets).map(({ name, about }) =>
        about === undefined
          ? [name, '', 'TypeScript', 'fastify and one undici pool; reads no message']
          : [`[${name}](${about.source})`, about.version, about.language, about.settings],
      ),
    ),
    ...leftOutOf(results),
    '## Answers',
    'Checked with the client of the TypeScript SDK before the load:',
    answersOf(targets),
    ...['2025-11-25', '2026-07-28'].flatMap((era) => [
      `## One backend, revision ${era}`,
      figuresOf(
        rows.filter((row) => row.backends === 'one' && row.era === era),
        isQuiet,
      ),
    ]),
    ...threeBackends(results, isQuiet),
    ...notesOf(rows, isQuiet),
    '## Memory before the load',
    memoryOf(targets),
    '## Where another gateway needs less than toolmgr',
    betterOf(results, isQuiet),
  ]);
}

function runOf({ date, command, machine, loadAverage, options, rows }: Results, isQuiet: boolean): string {
  const before = loadAverage.before[0]?.toFixed(1);
  const after = loadAverage.after[0]?.toFixed(1);
  const run = `${code(command.trim())}, ${date.slice(0, 10)}: ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; ${options.turns} turns of ${options.seconds} s; load average ${before} before, ${after} after.`;
  const share = `${Math.round(disturbance(rows) * 100)} %`;
  const quiet = `Other programs had ${share} of the measured core (median of all turns).`;
  return isQuiet
    ? `${run} ${quiet}`
    : `${run} ${quiet} So calls per second and delays of this run measure mainly how long a process waited for its core: they are in the raw results and not published here. CPU time per call is less sensitive to other work.`;
}

/** Median share of the measured core that other programs had. */
function disturbance(rows: readonly Row[]): number {
  const shares = rows.flatMap(({ turns }) => turns.flatMap(({ disturbed }) => disturbed ?? []));
  return shares.sort((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 0;
}

function unique(targets: readonly Target[]): readonly Target[] {
  return targets.filter(({ backends }) => backends === 'one');
}

function leftOutOf({ leftOut }: Results): readonly string[] {
  if (leftOut.length === 0) return [];
  const heads = ['gateway', 'left out of', 'reason'];
  return [
    table(
      heads,
      leftOut.map(({ gateway, what, why }) => [gateway, what, code(why.replaceAll(/\s+/g, ' ').slice(0, 160))]),
    ),
  ];
}

function answersOf(targets: readonly Target[]): string {
  const checks = Object.keys(targets.find(({ answers }) => answers !== undefined)?.answers ?? {});
  const rows = targets.flatMap(({ name, backends, answers }) =>
    answers === undefined ? [] : [[name, backends, ...Object.values<string>(answers)]],
  );
  return table(['gateway', 'backends', ...checks], rows);
}

function figuresOf(rows: readonly Row[], isQuiet: boolean): string {
  const speed = isQuiet ? ['calls/s', 'p50 ms', 'p99 ms'] : [];
  const heads = ['gateway', 'connections', 'calls measured', 'CPU per call', 'of toolmgr', ...speed];
  const ends = ['resident MB', 'backend requests per call', 'backend sessions per call', 'wrong or failed'];
  return table(
    [...heads, ...ends],
    rows.map((row) => figures(row, oursOf(rows, row), isQuiet)),
  );
}

function figures(row: Row, ours: Row | undefined, isQuiet: boolean): readonly string[] {
  const turn = medianTurn(row.turns);
  const cpu = leastCpu(row.turns);
  const ourCpu = leastCpu(ours?.turns ?? []);
  if (turn === undefined) return [];
  const isFull = turn.loaderBusy >= FULL;
  const speed = [
    `${Math.round(turn.callsPerSecond)}${isFull ? ' ¹' : ''}`,
    turn.p50Ms.toFixed(2),
    turn.p99Ms.toFixed(2),
  ];
  return [
    row.gateway,
    String(row.connections),
    String(row.turns.reduce((sum, { calls }) => sum + calls, 0)),
    cpu === undefined ? '' : milliseconds(cpu),
    cpu === undefined || ourCpu === undefined ? '' : (cpu / ourCpu).toFixed(2),
    ...(isQuiet ? speed : []),
    turn.residentBytes === undefined ? '' : megabytes(turn.residentBytes),
    turn.backendRequestsPerCall.toFixed(1),
    turn.backendSessionsPerCall.toFixed(1),
    String(row.turns.reduce((sum, { wrong, failed }) => sum + wrong + failed, 0)),
  ];
}

function threeBackends({ rows }: Results, isQuiet: boolean): readonly string[] {
  const three = rows.filter(({ backends }) => backends === 'three');
  if (three.length === 0) return [];
  const title = '## Three backends with aggregated names, revision 2025-11-25';
  return [title, 'Calls go to the first of three backends, which are one process.', figuresOf(three, isQuiet)];
}

function notesOf(rows: readonly Row[], isQuiet: boolean): readonly string[] {
  const isFull = rows.some(({ turns }) => (medianTurn(turns)?.loaderBusy ?? 0) >= FULL);
  return isQuiet && isFull
    ? ['¹ The core of the backend and of wrk was used completely: the gateway could have served more calls.']
    : [];
}

function memoryOf(targets: readonly Target[]): string {
  const rows = targets.flatMap(({ name, backends, idleBytes }) =>
    idleBytes === undefined ? [] : [[name, backends, megabytes(idleBytes)]],
  );
  return table(['gateway', 'backends', 'resident MB'], rows);
}

/** Every measure in which another gateway has a smaller figure, with the range of its quotients. */
function betterOf({ rows, targets }: Results, isQuiet: boolean): string {
  const others = [...new Set(rows.map(({ gateway }) => gateway))].filter((name) => name !== OURS);
  const measures: Readonly<Record<string, (row: Row) => number | undefined>> = {
    'CPU time per call': (row) => leastCpu(row.turns),
    'memory under load': (row) => medianTurn(row.turns)?.residentBytes,
    ...(isQuiet ? { 'p99 of the delay': (row: Row) => medianTurn(row.turns)?.p99Ms } : {}),
  };
  const found = others.flatMap((name) => {
    const cases = rows.filter(({ gateway }) => gateway === name);
    const perMeasure = Object.entries(measures).flatMap(([what, of]) => {
      const quotients = cases.flatMap((row) => quotient(of(row), oursOf(rows, row), of));
      const less = quotients.filter((each) => each < 1).sort((a, b) => a - b);
      if (less.length === 0) return [];
      return [
        [name, what, `${less.length} of ${quotients.length}`, `${less[0]?.toFixed(2)} to ${less.at(-1)?.toFixed(2)}`],
      ];
    });
    const idle = quotient(idleOf(targets, name), idleOf(targets, OURS), (bytes) => bytes).filter((each) => each < 1);
    return [...perMeasure, ...idle.map((each) => [name, 'memory before the load', '1 of 1', each.toFixed(2)])];
  });
  return found.length === 0
    ? 'None.'
    : table(['gateway', 'measure', 'cases', 'its figure over that of toolmgr'], found);
}

function quotient<T>(
  theirs: number | undefined,
  ours: T | undefined,
  of: (ours: T) => number | undefined,
): readonly number[] {
  const own = ours === undefined ? undefined : of(ours);
  return theirs === undefined || own === undefined || own === 0 ? [] : [theirs / own];
}

function idleOf(targets: readonly Target[], wanted: string): number | undefined {
  return targets.find(({ name, backends }) => name === wanted && backends === 'one')?.idleBytes;
}

/** The row of toolmgr in the same case. */
function oursOf(rows: readonly Row[], { backends, era, connections, payloadBytes }: Row): Row | undefined {
  return rows.find(
    (row) =>
      row.gateway === OURS &&
      row.backends === backends &&
      row.era === era &&
      row.connections === connections &&
      row.payloadBytes === payloadBytes,
  );
}

const milliseconds = (micros: number): string => `${(micros / 1000).toFixed(micros < 1000 ? 3 : 2)} ms`;
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
