// `npm run bench`: compares the gateway with its backend and a bare forwarder, in one run, with one load tool.
// Flags: --seconds N, --quick, --guards (only what policy plugins cost), --growth (only how cost
// grows with backends and tools), --json FILE. With --peer, --gateway or --backend it compares other gateways, see compare.ts; their flags are
// --peer NAME (repeated; all: every one of peers/peers.ts), --gateway NAME=URL and --pid N (repeated, in the same order), --tool NAME,
// --connections 1,16,128, --payloads 64,16384, --turns N.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { changeToNotification } from './changes.ts';
import { compare, serveBackend } from './compare.ts';
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
    peer: { type: 'string', multiple: true, default: [] },
    gateway: { type: 'string', multiple: true, default: [] },
    pid: { type: 'string', multiple: true, default: [] },
    tool: { type: 'string' },
    backend: { type: 'boolean', default: false },
    connections: { type: 'string', default: '1,16,128' },
    payloads: { type: 'string', default: '64,16384' },
    turns: { type: 'string', default: '3' },
  },
});
/** A run with only some rows does not replace the complete results. */
const only = (['guards', 'growth'] as const).find((part) => values[part]);
const file = values.json ?? `docs/project/benchmarks${only === undefined ? '' : `-${only}`}.json`;
const seconds = values.quick ? 2 : Number(values.seconds);
const connectionCounts = values.quick ? [32] : [1, 32, 256];
const WARM_UP_SECONDS = 1;
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
const TURNS = 5;
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
if (values.backend) await serveBackend();
if (values.peer.length + values.gateway.length > 0) {
  await compare({
    peers: values.peer,
    gateways: values.gateway,
    pids: values.pid,
    tool: values.tool,
    connections: values.connections.split(',').map(Number),
    payloads: values.payloads.split(',').map(Number),
    seconds: Number(values.seconds),
    turns: Number(values.turns),
    json: values.json ?? 'docs/project/benchmarks-gateways.json',
  });
  process.exit(0);
}
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
  await using running = new AsyncDisposableStack();
  const start = async (...given: Parameters<typeof startProcess>) => running.use(await startProcess(...given));
  const backend = await start(OTHER_CORE, 'backend.ts', ['0', '10']);
  const plain = modernRequests();
  const direct = await start(MEASURED_CORE, 'backend.ts', ['0', '10']);
  const forwarder = await start(MEASURED_CORE, 'forwarder.ts', [backend.url]);
  const paths: Path[] = [
    { what: 'backend, direct', process: direct, requests: plain, prefix: '' },
    { what: 'bare forwarder', process: forwarder, requests: plain, prefix: '' },
  ];
  for (const backendEra of ['modern', 'legacy']) {
    const gateway = await start(MEASURED_CORE, 'gateway.mjs', [backendEra, `far=${backend.url}`]);
    if (backendEra === 'modern') facts.startMs = Number(gateway.words[1]);
    const legacy = await legacyRequests(gateway.url);
    paths.push(
      { what: `gateway, modern -> ${backendEra}`, process: gateway, requests: plain, prefix: 'far_' },
      { what: `gateway, legacy -> ${backendEra}`, process: gateway, requests: legacy, prefix: 'far_' },
    );
  }
  const overUndici = await start(MEASURED_CORE, 'gateway.mjs', [
    'modern',
    `far=${backend.url}`,
    '--http-client',
    'undici',
  ]);
  paths.push({ what: 'gateway over undici, modern -> modern', process: overUndici, requests: plain, prefix: 'far_' });
  const calling = (tool: string, kind?: Parameters<EraRequests['call']>[1]) =>
    paths.map(({ what, process, requests, prefix }) => ({
      what,
      process,
      request: requests.call(`${prefix}${tool}`, kind),
    }));
  for (const connections of connectionCounts) await inTurns('tools/call', connections, calling('tool_0'));
  if (!values.quick) {
    await inTurns('tools/call, 1 MB result', 32, calling('tool_1'));
    await inTurns('tools/call, 10 progress events', 32, calling('tool_2', 'progress'));
    const listing = paths.map(({ what, process, requests }) => ({ what, process, request: requests.list() }));
    await inTurns('tools/list, 10 tools', 32, listing);
  }
}

/** A measured URL and its era. */
interface Path {
  readonly what: string;
  readonly process: BenchProcess;
  readonly requests: EraRequests;
  readonly prefix: string;
}

/** tools/call, modern to modern, with only required plugins, and with authentication, policies, limits and audit. */
async function guards(): Promise<void> {
  await using running = new AsyncDisposableStack();
  const backend = running.use(await startProcess(OTHER_CORE, 'backend.ts', ['0', '10']));
  const issuer = running.use(await tokenIssuer());
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-bench-'));
  running.defer(() => rmSync(scratch, { recursive: true, force: true }));
  const far = ['modern', `far=${backend.url}`];
  const ofTokens = ['--issuer', issuer.issuer, '--jwks', issuer.jwksUrl, '--audience', issuer.audience];
  const guarded = [...far, '--plugins', 'guarded', ...ofTokens, '--audit', join(scratch, 'audit.log')];
  const gateways = {
    off: running.use(await startProcess(MEASURED_CORE, 'gateway.mjs', [...far, '--plugins', 'off'])),
    guarded: running.use(await startProcess(MEASURED_CORE, 'gateway.mjs', guarded)),
  };
  const { call } = modernRequests({ authorization: `Bearer ${issuer.token}` });
  await inTurns('tools/call', 32, [
    { what: EVERYTHING_OFF, process: gateways.off, request: modernRequests().call('far_tool_0') },
    { what: GUARDED, process: gateways.guarded, request: call('far_tool_0') },
  ]);
  const fresh = call('far_tool_0', 'fresh');
  await inTurns('tools/call, fresh arguments', 32, [{ what: GUARDED, process: gateways.guarded, request: fresh }]);
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
      facts[`residentMegabytesIdle_${total}_tools`] = gateway.residentBytes() / 1e6;
      await inTurns('tools/list', 32, [{ what, process: gateway, request: requests.list() }]);
      await inTurns('tools/call', 32, [{ what, process: gateway, request: requests.call('b0_tool_0') }]);
      facts[`residentMegabytes_${total}_tools`] = gateway.residentBytes() / 1e6;
    }
    for (const backend of backends) await backend[Symbol.asyncDispose]();
  }
}

/** CPU per call as backends and tools grow. */
async function growth(): Promise<void> {
  await using running = new AsyncDisposableStack();
  const targets: Target[] = [];
  for (const [count, tools] of GROWTH) {
    const backend = running.use(await startProcess(OTHER_CORE, 'backend.ts', ['0', String(tools)]));
    const named = Array.from({ length: count }, (_, n) => `b${n}=${backend.url}`);
    const process = running.use(await startProcess(MEASURED_CORE, 'gateway.mjs', ['modern', ...named]));
    targets.push({ what: `gateway, ${count} backends, ${tools} tools each`, process, request: GROWTH_CALL });
  }
  await inTurns('tools/call', 32, targets);
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

/** One process under one request. */
interface Target {
  readonly what: string;
  readonly process: BenchProcess;
  readonly request: LoadRequest;
}

/**
 * Loads targets in turns, because the speed of a shared machine changes more within minutes than the measured difference.
 * For each target the turn with the least CPU per request counts, because noise only adds time.
 */
async function inTurns(path: string, connections: number, targets: readonly Target[]): Promise<void> {
  const best = new Map<Target, LoadResult>();
  for (const { what, process, request } of targets) {
    await probe(process.url, request, what);
    await measure(process, request, connections, warm.has(process) ? WARM_UP_SECONDS : FIRST_WARM_UP_SECONDS);
    warm.add(process);
  }
  for (let turn = 0; turn < TURNS; turn++) {
    for (const target of targets) {
      const result = await measure(target.process, target.request, connections, seconds);
      const known = best.get(target);
      if (known === undefined || result.cpuMicrosPerRequest < known.cpuMicrosPerRequest) best.set(target, result);
    }
  }
  for (const [{ what }, result] of best) keep({ what, path, connections, ...result });
}

function keep(row: Row): void {
  rows.push(row);
  console.log(line(row));
}

/** Checks one response before the measurement, because errors would be fast. */
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
