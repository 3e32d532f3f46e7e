// `npm run bench:operator`: memory, latency and requests of the operator with many objects, on a real API server; pods are
// simulated by kwok. Runs the built packages. Flags: --servers N, --members N (of all), --changes N, --record (writes
// docs/project/benchmarks-operator.json).
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { KubeObject, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import getPort from 'get-port';
import { type KubeCluster, startKube } from '../support/kube.ts';
import { apiOf } from '../support/kube-api.ts';
import { startKwok } from '../support/kwok.ts';
import { prometheusSamples, type Sample } from '../support/prometheus-text.ts';
import { until } from '../support/until.ts';

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '500' },
    members: { type: 'string', default: '5000' },
    changes: { type: 'string', default: '200' },
    record: { type: 'boolean', default: false },
  },
});
const [SERVERS, MEMBERS, CHANGES] = [Number(values.servers), Number(values.members), Number(values.changes)];
const SERVERS_PER_NAMESPACE = 10;
const ROOT = join(import.meta.dirname, '../..');
const IDLE_MS = Number(process.env.IDLE_MS ?? 120_000);
const WAIT_MS = 1_800_000;
const AT_ONCE = 16;

interface Any extends KubeObject {
  readonly spec?: Record<string, unknown>;
  readonly data?: Record<string, string>;
}
const type = (apiVersion: string, kind: string, plural: string): ResourceType<Any> => ({ apiVersion, kind, plural });
const OWN = 'toolmgr.dev/v1beta1';
const namespaces: ResourceType = { ...type('v1', 'Namespace', 'namespaces'), isClusterScoped: true };
const groups = type(OWN, 'MCPGroup', 'mcpgroups');
const servers = type(OWN, 'VirtualMCPServer', 'virtualmcpservers');
const entries = type(OWN, 'MCPServerEntry', 'mcpserverentries');
const deployments = type('apps/v1', 'Deployment', 'deployments');
const configMaps = type('v1', 'ConfigMap', 'configmaps');

/** The names of server `at`, its group and its members. */
const placeOf = (at: number) => ({
  namespace: `team-${Math.floor(at / SERVERS_PER_NAMESPACE)}`,
  group: `group-${at}`,
  server: `server-${at}`,
});

await using stack = new AsyncDisposableStack();
const crds = await Promise.all(
  (await readdir(join(ROOT, 'deploy/crds'))).map((file) => readFile(join(ROOT, 'deploy/crds', file), 'utf8')),
);
say('starting a cluster');
const cluster = stack.use(
  await startKube({ crds: crds.join('\n---\n'), apiServerFlags: ['--service-cluster-ip-range=10.96.0.0/12'] }),
);
stack.use(await startKwok(cluster));
const api = stack.use(apiOf(cluster));

say(`creating ${SERVERS} VirtualMCPServers with ${MEMBERS} members`);
await createAll();

const first = await startOperatorProcess(cluster);
const converged = await timed(() => until(() => allApplied(), WAIT_MS));
say(`all objects are applied after ${(converged / 1000).toFixed(1)} s`);
await settled(first);
const afterWork = await first.memory();
await first.stop();

const second = stack.use(await startOperatorProcess(cluster));
const syncedMs = await second.readyMs;
await settled(second);
const restarted = await second.memory();
const writesAtStart = await second.writes();

say(`measuring ${CHANGES} changes of each sort`);
const latency = { spec: await changeSpecs(), member: await changeMembers() };
await settled(second);
const afterChanges = await second.memory();

say(`counting requests for ${IDLE_MS / 1000} s`);
const before = await second.requests(({ watch }) => watch === 'false');
const [leaseBefore, watchesBefore] = [before, await second.requests(({ watch }) => watch === 'true')];
await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
const perMinute = (count: number): number => Math.round((count / IDLE_MS) * 60_000 * 10) / 10;
const idle = {
  requestsPerMinute: perMinute((await second.requests(({ watch }) => watch === 'false')) - leaseBefore),
  watchStartsPerMinute: perMinute((await second.requests(({ watch }) => watch === 'true')) - watchesBefore),
};
const result = {
  date: new Date().toISOString(),
  command: `npm run bench:operator -- --servers ${SERVERS} --members ${MEMBERS} --changes ${CHANGES}`,
  machine: { cpu: cpus()[0]?.model, cores: cpus().length, load: loadavg()[0], node: process.version },
  memoryMb: { afterFirstStart: afterWork, afterRestart: restarted, afterChanges },
  firstStartToAllAppliedMs: Math.round(converged),
  restartToSyncedMs: Math.round(syncedMs),
  writesAfterRestart: writesAtStart,
  changeToAppliedMs: latency,
  idle,
};
console.log(JSON.stringify(result, undefined, 2));
if (values.record)
  await writeFile(join(ROOT, 'docs/project/benchmarks-operator.json'), `${JSON.stringify(result, undefined, 2)}\n`);

// ---- objects ----

async function createAll(): Promise<void> {
  const perServer = Math.ceil(MEMBERS / SERVERS);
  const create = (of: ResourceType, namespace: string | undefined, name: string, spec?: object) =>
    api.create(of, {
      ...{ apiVersion: of.apiVersion, kind: of.kind, metadata: { ...(namespace && { namespace }), name } },
      ...(spec && { spec }),
    } as KubeObject);
  const names = new Set(Array.from({ length: SERVERS }, (_, at) => placeOf(at).namespace));
  await inTurns([...names], (name) => create(namespaces, undefined, name));
  await inTurns([...Array(SERVERS).keys()], async (at) => {
    const { namespace, group, server } = placeOf(at);
    await create(groups, namespace, group, { description: `group ${at}` });
    for (let member = 0; member < perServer; member++) {
      await create(entries, namespace, `${server}-member-${member}`, {
        remoteUrl: `https://mcp-${at}-${member}.example.com/mcp`,
        transport: 'streamable-http',
        groupRef: { name: group },
      });
    }
    await create(servers, namespace, server, {
      groupRef: { name: group },
      incomingAuth: { type: 'anonymous' },
      replicas: 1,
    });
  });
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await work(items[next++] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function allApplied(): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { items } = await api.list(deployments, { metadataOnly: true });
  return items.filter(({ metadata }) => metadata.name.startsWith('server-')).length >= SERVERS;
}

// ---- changes ----

/** Milliseconds from a change of a VirtualMCPServer to its changed Deployment. */
async function changeSpecs(): Promise<Percentiles> {
  return measureChanges(deployments, async (at, round) => {
    const { namespace, server } = placeOf(at);
    // a limit of the aggregator that changes the file, so the checksum and the pods
    const spec = { config: { operational: { timeouts: { default: `${31 + round}s` } } } };
    return {
      concerned: (object) => object.metadata.name === server && object.metadata.namespace === namespace,
      change: () => api.patch(servers, { namespace, name: server }, { spec }),
    };
  });
}

/** Milliseconds from a change of a member to the changed document of its group's server. */
async function changeMembers(): Promise<Percentiles> {
  return measureChanges(configMaps, async (at, round) => {
    const { namespace, server } = placeOf(at);
    const spec = { remoteUrl: `https://changed-${round}.example.com/mcp` };
    return {
      concerned: (object) =>
        object.metadata.name === `${server}-vmcp-backends` && object.metadata.namespace === namespace,
      change: () => api.patch(entries, { namespace, name: `${server}-member-0` }, { spec }),
    };
  });
}

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}
interface Change {
  concerned(object: KubeObject): boolean;
  change(): Promise<unknown>;
}

/** One change after another. The clock starts when the server has stored the change. */
async function measureChanges(
  watched: ResourceType<Any>,
  changeOf: (at: number, round: number) => Promise<Change>,
): Promise<Percentiles> {
  const stop = new AbortController();
  const { resourceVersion } = await api.list(watched, { metadataOnly: true });
  const known = new Map<string, number | undefined>();
  let seen: (object: KubeObject) => void = () => {};
  const watching = (async () => {
    const options = { resourceVersion, metadataOnly: true, signal: stop.signal };
    for await (const { type: is, object } of api.watch(watched, options)) if (is === 'MODIFIED') seen(object);
  })();
  const took: number[] = [];
  for (let round = 0; round < CHANGES; round++) {
    const { concerned, change } = await changeOf((round * 37) % SERVERS, round);
    const applied = Promise.withResolvers<number>();
    seen = (object) => {
      const { name, namespace, generation } = object.metadata;
      // a Deployment also changes when its controller writes the status
      const isOld = generation !== undefined && known.get(`${namespace}/${name}`) === generation;
      known.set(`${namespace}/${name}`, generation);
      if (concerned(object) && !isOld) applied.resolve(performance.now());
    };
    if (watched === deployments)
      for (const { metadata } of await deploymentOf(round)) {
        known.set(`${metadata.namespace}/${metadata.name}`, metadata.generation);
      }
    const changing = change().then(() => performance.now());
    const late = setTimeout(() => applied.reject(new Error(`change ${round} was not applied`)), 60_000);
    const [startedMs, endedMs] = await Promise.all([changing, applied.promise]);
    clearTimeout(late);
    took.push(Math.max(0, endedMs - startedMs));
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  stop.abort();
  await watching;
  const sorted = took.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

async function deploymentOf(round: number): Promise<readonly KubeObject[]> {
  const { namespace, server } = placeOf((round * 37) % SERVERS);
  const found = await api.get(deployments, { namespace, name: server });
  return found === undefined ? [] : [found];
}

// ---- the operator ----

interface Measured extends AsyncDisposable {
  /** Milliseconds from the start of the process until it had read everything. */
  readonly readyMs: Promise<number>;
  samples(): Promise<readonly Sample[]>;
  /** Answers whose labels match. */
  requests(isWanted: (labels: Readonly<Record<string, string>>) => boolean): Promise<number>;
  /** Answers to requests that write, by method and status. */
  writes(): Promise<Readonly<Record<string, number>>>;
  /** Resident memory and its maximum, in MB. */
  memory(): Promise<{ readonly rss: number; readonly peak: number }>;
  stop(): Promise<void>;
}

async function startOperatorProcess({ server, token, caFile, folder }: KubeCluster): Promise<Measured> {
  const files = join(folder, 'service-account');
  await mkdir(files, { recursive: true });
  await writeFile(join(files, 'token'), token, { mode: 0o600 });
  await writeFile(join(files, 'ca.crt'), await readFile(caFile));
  const { hostname, port } = new URL(server);
  const pages = await getPort();
  const program = join(import.meta.dirname, 'operator-process.mjs');
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? []), program, hostname, port, files, String(pages)],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let log = '';
  child.stderr?.on('data', (bytes) => {
    log = (log + bytes).slice(-20_000);
  });
  const read = async (path: string): Promise<Response | undefined> =>
    fetch(`http://127.0.0.1:${pages}${path}`).catch(() => undefined);
  const samples: Measured['samples'] = async () => prometheusSamples((await (await read('/metrics'))?.text()) ?? '');
  const readyMs = until(async () => {
    if (child.exitCode !== null) throw new Error(`the operator ended\n${log}`);
    return (await read('/readyz'))?.status === 200;
  }, WAIT_MS).then(() => performance.now() - startedMs);
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };
  return {
    readyMs,
    samples,
    async requests(isWanted) {
      const wanted = (await samples()).filter(
        ({ name, labels }) => name === 'toolmgr_operator_api_requests_total' && isWanted(labels),
      );
      return wanted.reduce((sum, { value }) => sum + value, 0);
    },
    async writes() {
      const counts: Record<string, number> = {};
      for (const { name, labels, value } of await samples()) {
        if (name !== 'toolmgr_operator_api_requests_total' || labels.method === 'GET') continue;
        counts[`${labels.method} ${labels.code}`] = value;
      }
      return counts;
    },
    async memory() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      const megabytes = (field: string): number =>
        Math.round(Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024);
      return { rss: megabytes('VmRSS'), peak: megabytes('VmHWM') };
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Waits until the operator has had no work for 10 s. */
async function settled(operator: Measured): Promise<void> {
  await operator.readyMs;
  let before = -1;
  let quietSince = performance.now();
  await until(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const all = await operator.samples();
    const sum = (name: string): number =>
      all.filter((sample) => sample.name === name).reduce((total, { value }) => total + value, 0);
    const now = sum('toolmgr_operator_reconcile_duration_seconds_count');
    if (now !== before || sum('toolmgr_operator_queue_depth') > 0) quietSince = performance.now();
    before = now;
    return performance.now() - quietSince > 10_000;
  }, WAIT_MS);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function say(line: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
}
