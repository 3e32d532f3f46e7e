// One job with three published servers in four ways: tool by tool, by one composite tool, by one script, and by the
// composite tool where the model searches for it. Checks that the results are equal and that the shorter ways cost a model
// less.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { serve } from '../two-callers/served.ts';
import { type Cost, type Metered, metered } from './metered.ts';
import { byComposite, byFoundComposite, byScript, type Job, toolByTool } from './ways.ts';

const BRANCHES = ['harbour', 'market', 'station', 'university', 'old-town'];
const ORDERS = 40; // in each file: not needed for the job, but a model that reads the file reads them

/** A way to do the job: which sections of the vmcp file it needs, and what it calls. */
interface Way {
  readonly name: string;
  readonly settings: (file: VmcpFile) => VmcpFile;
  readonly work: (model: Metered, job: Job) => Promise<void>;
  readonly roundTrips: number;
}
type VmcpFile = Readonly<Record<string, unknown>>;

const WAYS: readonly Way[] = [
  {
    name: 'tool by tool',
    settings: (file) => without(file, 'compositeTools', 'codeMode', 'optimizer'),
    work: toolByTool,
    roundTrips: BRANCHES.length * 2 + 2, // read and add for each, remember, write
  },
  {
    name: 'composite',
    // only the composite tool is listed; it calls the tools of the servers
    settings: (file) => ({
      ...without(file, 'codeMode', 'optimizer'),
      aggregation: { ...(file.aggregation as VmcpFile), excludeAllTools: true },
    }),
    work: byComposite,
    roundTrips: 1,
  },
  {
    name: 'script',
    // a script can call only listed tools, so all are listed, and the script tool declares them again
    settings: (file) => without(file, 'compositeTools', 'optimizer'),
    work: byScript,
    roundTrips: 1,
  },
  {
    name: 'found composite',
    // all sections are used; two tools are listed
    settings: (file) => file,
    work: byFoundComposite,
    roundTrips: 2, // one to find it
  },
];

await using scratch = await scratchFolder();
const text = await readFile(join(import.meta.dirname, 'vmcp.yaml'), 'utf8');
const reports: { readonly name: string; readonly listed: number; readonly cost: Cost; readonly made: Made }[] = [];
for (const { name, settings, work, roundTrips } of WAYS) {
  const folder = join(scratch.path, name.replaceAll(' ', '-'));
  await mkdir(folder);
  for (const branch of BRANCHES) await writeFile(join(folder, `${branch}.json`), JSON.stringify(week(branch)));
  const file = join(folder, 'vmcp.yaml');
  // JSON is YAML too
  await writeFile(file, JSON.stringify(settings(parse(text.replaceAll('/tmp/fewer-round-trips', folder)))));

  await using served = await serve(file);
  await using model = await metered(served.endpoint);
  await work(model, { folder, branches: BRANCHES });
  assert.equal(model.cost().roundTrips, roundTrips, `${name}: round trips`);
  reports.push({ name, listed: model.tools.length, cost: model.cost(), made: await madeIn(folder) });
}

const [plain, ...shorter] = reports;
assert.ok(plain !== undefined);
show(reports.map(({ name, listed, cost }) => row(name, listed, cost, plain.cost)));
assert.match(plain.made.report, /^harbour: The sum of \d+ and \d+ is \d+\.\nmarket: /, 'the report says the sums');
for (const { name, cost, made } of shorter) {
  assert.deepEqual(made, plain.made, `${name}: the same report and the same memory as tool by tool`);
  for (const key of ['roundTrips', 'context', 'read'] as const) {
    assert.ok(cost[key] < plain.cost[key], `${name}: fewer (${key}) than tool by tool`);
  }
}
console.log(shorter.map(({ name, cost }) => `${name}: ${saving(cost, plain.cost)}`).join('\n'));

function without(file: VmcpFile, ...keys: readonly string[]): VmcpFile {
  return Object.fromEntries(Object.entries(file).filter(([key]) => !keys.includes(key)));
}

/** The results of the job. */
interface Made {
  readonly report: string;
  readonly memory: readonly unknown[];
}

async function madeIn(folder: string): Promise<Made> {
  const memory = await readFile(join(folder, 'memory.jsonl'), 'utf8');
  return {
    report: await readFile(join(folder, 'report.txt'), 'utf8'),
    memory: memory
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  };
}

/** A week of a branch: the two counts that the job needs, and the orders. */
function week(branch: string): Record<string, unknown> {
  const orders = Array.from({ length: ORDERS }, (_, n) => ({
    id: `${branch}-${n + 1}`,
    through: (n + branch.length) % 3 === 0 ? 'online' : 'shop',
    item: ['tea', 'oat biscuits', 'filter paper', 'cocoa'][n % 4],
    pieces: (n % 5) + 1,
  }));
  const count = (way: string): number => orders.filter(({ through }) => through === way).length;
  return { branch, shop: count('shop'), online: count('online'), orders };
}

function row(name: string, listed: number, cost: Cost, plain: Cost): string {
  const { roundTrips, definitions, calls, results, context, read } = cost;
  const cells = [name, roundTrips, `${listed}: ${definitions}`, calls, results, context, saved(context, plain.context)];
  return [...cells, read, saved(read, plain.read)].join(' | ');
}

function saved(tokens: number, before: number): string {
  return tokens === before ? '' : `${Math.floor((1 - tokens / before) * 100)} %`;
}

function saving({ roundTrips, context, read }: Cost, plain: Cost): string {
  const trips = plain.roundTrips - roundTrips;
  const tokens = `${saved(context, plain.context)} of the context, ${saved(read, plain.read)} of the tokens read`;
  return `saves ${trips} of ${plain.roundTrips} round trips, ${tokens}`;
}

async function scratchFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'toolmgr-fewer-round-trips-')));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Prints rows with cells separated by ` | ` as columns. */
function show(rows: readonly string[]): void {
  const head = 'tokens | round trips | tools listed | calls | results | context | saved | read in all | saved';
  const cells = [head, ...rows].map((each) => each.split(' | '));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((each) => each[column]?.length ?? 0)));
  for (const each of cells)
    console.log(
      each
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
