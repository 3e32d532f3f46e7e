// `npm run bench`: the gateway beside its backend and a bare forwarder, in one run, with one load tool.
// Flags: --seconds N, --quick, --guards (only what policy plugins cost), --growth (only how cost
// grows with backends and tools), --json FILE, --gateway NAME=URL (another gateway in front of the printed backend).
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { changeToNotification } from './changes.ts';
import { type LoadRequest, type LoadResult, measure } from './load.ts';
import { type BenchProcess, MEASURED_CORE, OTHER_CORE, startProcess } from './processes.ts';
import { type EraRequests, legacyRequests, modernRequests } from './requests.ts';
import { tokenIssuer } from './token-issuer.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    guards: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    json: { type: 'string' },
    gateway: { type: 'string', multiple: true, default: [] },
  },
});
/** What only some rows were measured for does not take the place of all of them. */
const only = (['guards', 'growth'] as const).find((part) => values[part]);
const file = values.json ?? `docs/benchmarks${only === undefined ? '' : `-${only}`}.json`;
const seconds = values.quick ? 2 : Number(values.seconds);
const connectionCounts = values.quick ? [32] : [1, 32, 256];
const WARM_UP_SECONDS = 2;
/** The first load on a process also warms its compiler up. */
const FIRST_WARM_UP_SECONDS = 8;
const SESSIONS = 5_000;
const SESSIONS_WARM_UP = 200;
const SESSIONS_AT_ONCE = 20;
const EVERYTHING_OFF = 'gateway, everything off';
const GUARDED = 'gateway, OIDC + Cedar + limits + audit';
const GUARDED_GOAL = 0.5; // of the requests per second with everything off
/** Backends, and tools of each. */
const GROWTH = [
  [1, 10],
  [20, 10],
  [200, 10],
  [1_000, 10],
  [1, 100],
  [1, 1_000],
  [1, 10_000],
] as const;
const GROWTH_CALL = modernRequests().call('b0_tool_0');
const GROWTH_TURNS = 5;
const warm = new Set<BenchProcess>();

/** One line of the table. */
interface Row extends LoadResult {
  readonly what: string;
  readonly path: string;
  readonly connections: number;
}

const rows: Row[] = [];
const facts: Record<string, number> = {};

requireWrk();
if (only === undefined) await calls();
if (only !== 'growth') await guards();
if (only === undefined && !values.quick) await lists();
if (only === 'growth' || (only === undefined && !values.quick)) await growth();
if (only === undefined && !values.quick) {
  await sessions();
  facts.changeToNotificationMs = await changeToNotification();
}
report();

/** tools/call on every path: direct, forwarded, and the four cells. */
async function calls(): Promise<void> {
  await using backend = await startProcess(OTHER_CORE, 'backend.ts', ['0', '10']);
  {
    await using direct = await startProcess(MEASURED_CORE, 'backend.ts', ['0', '10']);
    await cases('backend, direct', direct, modernRequests(), '');
  }
  {
    await using forwarder = await startProcess(MEASURED_CORE, 'forwarder.ts', [backend.url]);
    await cases('bare forwarder', forwarder, modernRequests(), '');
  }
  for (const backendEra of ['modern', 'legacy']) {
    await using gateway = await startProcess(MEASURED_CORE, 'gateway.mjs', [backendEra, `far=${backend.url}`]);
    if (backendEra === 'modern') facts.startMs = Number(gateway.words[1]);
    await cases(`gateway, modern -> ${backendEra}`, gateway, modernRequests(), 'far_');
    await cases(`gateway, legacy -> ${backendEra}`, gateway, await legacyRequests(gateway.url), 'far_');
  }
  for (const other of values.gateway) await otherGateway(other, backend);
}

/** tools/call, modern to modern, with every plugin off that can be, and with callers, policies, limits and audit. */
async function guards(): Promise<void> {
  await using backend = await startProcess(OTHER_CORE, 'backend.ts', ['0', '10']);
  await using issuer = await tokenIssuer();
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-bench-'));
  const ofTokens = ['--issuer', issuer.issuer, '--jwks', issuer.jwksUrl, '--audience', issuer.audience];
  const far = ['modern', `far=${backend.url}`];
  {
    await using gateway = await startProcess(MEASURED_CORE, 'gateway.mjs', [...far, '--plugins', 'off']);
    await row(EVERYTHING_OFF, 'tools/call', gateway, modernRequests().call('far_tool_0'), 32);
  }
  {
    const args = [...far, '--plugins', 'guarded', ...ofTokens, '--audit', join(scratch, 'audit.log')];
    await using gateway = await startProcess(MEASURED_CORE, 'gateway.mjs', args);
    const { call } = modernRequests({ authorization: `Bearer ${issuer.token}` });
    await row(GUARDED, 'tools/call', gateway, call('far_tool_0'), 32);
    await row(GUARDED, 'tools/call, fresh arguments', gateway, call('far_tool_0', 'fresh'), 32);
  }
  rmSync(scratch, { recursive: true, force: true });
}

async function cases(what: string, target: BenchProcess, requests: EraRequests, prefix: string): Promise<void> {
  for (const connections of connectionCounts) {
    await row(what, 'tools/call', target, requests.call(`${prefix}tool_0`), connections);
  }
  if (values.quick) return;
  await row(what, 'tools/call, 1 MB result', target, requests.call(`${prefix}tool_1`), 32);
  await row(what, 'tools/call, 10 progress events', target, requests.call(`${prefix}tool_2`, 'progress'), 32);
  await row(what, 'tools/list, 10 tools', target, requests.list(), 32);
}

/** tools/list of 200 and 5,000 tools over 20 backends. */
async function lists(): Promise<void> {
  for (const total of [200, 5_000]) {
    const backends = await Promise.all(
      Array.from({ length: 20 }, () => startProcess(OTHER_CORE, 'backend.ts', ['0', String(total / 20)])),
    );
    const named = backends.map(({ url }, n) => `b${n}=${url}`);
    {
      await using gateway = await startProcess(MEASURED_CORE, 'gateway.mjs', ['modern', ...named]);
      const requests = modernRequests();
      const what = `gateway, modern, 20 backends, ${total} tools`;
      await row(what, 'tools/list', gateway, requests.list(), 32);
      await row(what, 'tools/call', gateway, requests.call('b0_tool_0'), 32);
      facts[`residentMegabytes_${total}_tools`] = gateway.residentBytes() / 1e6;
    }
    for (const backend of backends) await backend[Symbol.asyncDispose]();
  }
}

/**
 * CPU per call as backends and tools grow. All gateways run at once and are loaded in turns: the speed of a shared
 * machine drifts by more within minutes than what is looked for. The turn with the least CPU per call counts.
 */
async function growth(): Promise<void> {
  await using running = new AsyncDisposableStack();
  const targets: { readonly what: string; readonly gateway: BenchProcess; best?: LoadResult }[] = [];
  for (const [count, tools] of GROWTH) {
    const backend = running.use(await startProcess(OTHER_CORE, 'backend.ts', ['0', String(tools)]));
    const named = Array.from({ length: count }, (_, n) => `b${n}=${backend.url}`);
    const gateway = running.use(await startProcess(MEASURED_CORE, 'gateway.mjs', ['modern', ...named]));
    targets.push({ what: `gateway, ${count} backends, ${tools} tools each`, gateway });
    await probe(gateway.url, GROWTH_CALL, `${count} backends`);
    await measure(gateway, GROWTH_CALL, 32, FIRST_WARM_UP_SECONDS);
  }
  for (let turn = 0; turn < GROWTH_TURNS; turn++) {
    for (const target of targets) {
      const result = await measure(target.gateway, GROWTH_CALL, 32, seconds);
      const least = target.best?.cpuMicrosPerRequest ?? Number.POSITIVE_INFINITY;
      if (result.cpuMicrosPerRequest < least) target.best = result;
    }
  }
  for (const { what, best } of targets)
    if (best !== undefined) keep({ what, path: 'tools/call', connections: 32, ...best });
}

/** Memory of 5,000 idle legacy sessions, opened one after another on a few connections. */
async function sessions(): Promise<void> {
  await using backend = await startProcess(OTHER_CORE, 'backend.ts', ['0', '10']);
  await using gateway = await startProcess(MEASURED_CORE, 'gateway.mjs', ['modern', `far=${backend.url}`]);
  for (let n = 0; n < SESSIONS_WARM_UP; n++) await legacyRequests(gateway.url);
  const before = gateway.residentBytes();
  for (let n = 0; n < SESSIONS; n += SESSIONS_AT_ONCE) {
    await Promise.all(Array.from({ length: SESSIONS_AT_ONCE }, () => legacyRequests(gateway.url)));
  }
  facts.kilobytesPerIdleSession = (gateway.residentBytes() - before) / SESSIONS / 1000;
}

async function otherGateway(given: string, backend: BenchProcess): Promise<void> {
  const at = given.indexOf('=');
  const [name, url] = [given.slice(0, at), given.slice(at + 1)];
  console.log(`another gateway: put ${name} in front of ${backend.url} as "far", served at ${url}`);
  const requests = await legacyRequests(url);
  const listed = await fetch(url, { method: 'POST', ...requests.list() });
  const text = await listed.text();
  const tool = /"name":"([^"]*tool_0)"/.exec(text)?.[1];
  if (tool === undefined) return console.log(`${name} lists no tool that ends in tool_0: ${text.slice(0, 300)}`);
  const target: BenchProcess = {
    pid: 0,
    url,
    words: [],
    cpuMicros: () => 0,
    residentBytes: () => 0,
    [Symbol.asyncDispose]: async () => {},
  };
  for (const connections of connectionCounts) await row(name, 'tools/call', target, requests.call(tool), connections);
}

async function row(
  what: string,
  path: string,
  target: BenchProcess,
  request: LoadRequest,
  connections: number,
): Promise<void> {
  await probe(target.url, request, what);
  await measure(target, request, connections, warm.has(target) ? WARM_UP_SECONDS : FIRST_WARM_UP_SECONDS);
  warm.add(target);
  const result = await measure(target, request, connections, seconds);
  keep({ what, path, connections, ...result });
}

function keep(row: Row): void {
  rows.push(row);
  console.log(line(row));
}

/** One answer is looked at before it is counted: a fast error is no result. */
async function probe(url: string, { headers, body }: LoadRequest, what: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200 || !text.includes('"result"'))
    throw new Error(`${what}: ${response.status} ${text.slice(0, 300)}`);
}

function line(row: Row): string {
  const cells = [
    row.what.padEnd(42),
    row.path.padEnd(31),
    String(row.connections).padStart(4),
    Math.round(row.requestsPerSecond).toString().padStart(8),
    row.p50Ms.toFixed(2).padStart(8),
    row.p99Ms.toFixed(2).padStart(8),
    row.cpuMicrosPerRequest.toFixed(0).padStart(7),
    (row.residentBytes / 1e6).toFixed(0).padStart(6),
    String(row.failures).padStart(5),
  ];
  return cells.join(' | ');
}

function report(): void {
  const find = (what: string) => rows.find((r) => r.what === what && r.path === 'tools/call' && r.connections === 32);
  const bare = find('bare forwarder');
  const ratios: Record<string, number> = {};
  if (bare !== undefined) {
    for (const cell of ['modern -> modern', 'legacy -> legacy', 'modern -> legacy', 'legacy -> modern']) {
      const found = find(`gateway, ${cell}`);
      if (found === undefined) continue;
      ratios[`${cell}, requests per second over bare`] = found.requestsPerSecond / bare.requestsPerSecond;
      ratios[`${cell}, CPU microseconds over bare`] = found.cpuMicrosPerRequest - bare.cpuMicrosPerRequest;
    }
  }
  const [off, guarded] = [find(EVERYTHING_OFF), find(GUARDED)];
  if (off !== undefined && guarded !== undefined) {
    const ratio = guarded.requestsPerSecond / off.requestsPerSecond;
    ratios['guarded over everything off, requests per second'] = ratio;
    const verdict = ratio >= GUARDED_GOAL ? 'reached' : 'NOT reached';
    console.log(`goal: guarded makes at least ${GUARDED_GOAL} of the calls with everything off: ${verdict}`);
  }
  for (const [name, value] of Object.entries({ ...ratios, ...facts })) console.log(`${name}: ${value.toFixed(2)}`);
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memoryBytes: totalmem(), node: process.version };
  const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`.trim();
  mkdirSync(dirname(file), { recursive: true });
  const record = { date: new Date().toISOString(), command, machine, seconds, ratios, facts, rows };
  writeFileSync(file, `${JSON.stringify(record, undefined, 2)}\n`);
  console.log(`raw results: ${file}`);
}

function requireWrk(): void {
  const isThere = (): boolean => ['wrk', 'taskset'].every((tool) => spawnSync(tool, ['--help']).error === undefined);
  if (isThere()) return;
  if (process.getuid?.() === 0) spawnSync('apt-get', ['install', '-y', 'wrk', 'util-linux'], { stdio: 'inherit' });
  if (isThere()) return;
  console.error('the bench needs wrk and taskset: apt-get install wrk util-linux');
  process.exit(1);
}
