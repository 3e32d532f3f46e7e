// `npm run bench:run`: time from `toolmgr run` to the first answered call, and memory of the detached proxy, for each kind of
// workload; then the CPU of a call beside a bare forwarder. Runs the built packages. Flags: --times N (0 leaves out the
// table). Images need a container engine, as the tests start it.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import getPort from 'get-port';
import { engineMissing, importServerImage, SERVER_IMAGE, startEngine } from '../support/container-engine.ts';
import { until } from '../support/until.ts';
import { measure } from './load.ts';
import { MEASURED_CORE, OTHER_CORE, observeProcess, startProcess } from './processes.ts';
import { modernRequests } from './requests.ts';

const { values } = parseArgs({ options: { times: { type: 'string', default: '5' } } });
const CLI = join(import.meta.dirname, '../../hosts/dist/cli/main.js');
const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const TURNS = 6;
const WARM_UP_S = 6;
const SETTLE_MS = 3_000; // memory is read after the young generation has shrunk

/** One kind of workload: its name in the table and the arguments of `run`. */
interface Kind {
  readonly what: string;
  readonly args: readonly string[];
}

const state = await mkdtemp(join(tmpdir(), 'toolmgr-bench-'));
await using stack = new AsyncDisposableStack();
stack.defer(() => rm(state, { recursive: true, force: true }));
const env: Record<string, string | undefined> = { ...process.env, TOOLMGR_STATE_DIR: state, NO_COLOR: '1' };

const port = await getPort();
const remote = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
  env: { ...process.env, PORT: String(port) },
  stdio: 'ignore',
});
stack.defer(() => void remote.kill());

const kinds: Kind[] = [
  { what: 'process, stdio', args: ['npx://@modelcontextprotocol/server-everything'] },
  { what: 'URL', args: [`http://127.0.0.1:${port}/mcp`] },
];
const missing = values.times === '0' ? 'not asked for' : engineMissing('docker');
if (missing === undefined) {
  const engine = stack.use(await startEngine('docker'));
  await importServerImage(engine);
  env.DOCKER_HOST = `unix://${engine.socket}`;
  const image = ['--isolate-network=false', '--runtime', 'container'];
  kinds.push(
    { what: 'image, stdio', args: [...image, '--transport', 'stdio', SERVER_IMAGE, '--', 'stdio'] },
    {
      what: 'image, streamable HTTP',
      args: [...image, '--transport', 'streamable-http', '--target-port', '3001', SERVER_IMAGE, '--', 'streamableHttp'],
    },
  );
  kinds[0] = { what: 'process, stdio', args: ['--runtime', 'process', ...(kinds[0]?.args ?? [])] };
} else console.error(`images are left out: ${missing}`);

console.log('| workload | first answered call, median | fastest | proxy, PSS | after 100 calls |');
console.log('| --- | --- | --- | --- | --- |');
if (values.times !== '0') for (const kind of kinds) console.log(await row(kind));

await overhead();

/** `tools/call` through the proxy of a URL workload, and through a bare forwarder to the same backend, in turns. */
async function overhead(): Promise<void> {
  await using running = new AsyncDisposableStack();
  const backend = running.use(await startProcess(OTHER_CORE, 'backend.ts', ['0', '10']));
  const forwarder = running.use(await startProcess(MEASURED_CORE, 'forwarder.ts', [backend.url]));
  await toolmgr('run', '--name', 'bench', backend.url);
  const { pid, url } = JSON.parse(await toolmgr('status', 'bench', '--format', 'json')) as { pid: number; url: string };
  const proxy = observeProcess(pid, url, MEASURED_CORE);
  const request = modernRequests().call('tool_0');
  const least = { forwarder: Number.POSITIVE_INFINITY, proxy: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [name, measured] of Object.entries({ forwarder, proxy }) as [keyof typeof least, typeof proxy][]) {
      const { cpuMicrosPerRequest, failures } = await measure(measured, request, 32, turn === 0 ? WARM_UP_S : 1);
      if (failures > 0) throw new Error(`${failures} calls failed`);
      if (turn > 0) least[name] = Math.min(least[name], cpuMicrosPerRequest);
    }
  }
  await toolmgr('rm', '--force', 'bench');
  console.log(
    `\nCPU of a call: bare forwarder ${least.forwarder.toFixed(0)} µs, proxy of run ${least.proxy.toFixed(0)} µs`,
  );
}

async function row({ what, args }: Kind): Promise<string> {
  const tookMs: number[] = [];
  let idleKb = 0;
  let usedKb = 0;
  for (let time = 0; time < Number(values.times); time++) {
    const startMs = performance.now();
    const out = await toolmgr('run', '--name', 'bench', ...args);
    const url = /runs at (\S+)/.exec(out)?.[1];
    if (url === undefined) throw new Error(`${what} did not start: ${out}`);
    await call(url, 1);
    tookMs.push(performance.now() - startMs);
    const { pid } = JSON.parse(await toolmgr('status', 'bench', '--format', 'json')) as { pid: number };
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    idleKb = Math.max(idleKb, await pssOf(pid));
    await call(url, 100);
    usedKb = Math.max(usedKb, await pssOf(pid));
    await toolmgr('rm', '--force', 'bench');
  }
  const sorted = tookMs.sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  const megabytes = (kb: number): string => `${Math.round(kb / 1_024)} MB`;
  const cells = [what, seconds(median), seconds(sorted[0] ?? 0), megabytes(idleKb), megabytes(usedKb)];
  return `| ${cells.join(' | ')} |`;
}

async function call(url: string, times: number): Promise<void> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  for (let n = 0; n < times; n++) await client.callTool({ name: 'echo', arguments: { message: 'x' } });
  await client.close();
}

/** Proportional set size in KiB: shared pages are divided among their processes. */
async function pssOf(pid: number): Promise<number> {
  return Number(/^Pss:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
}

async function toolmgr(...args: readonly string[]): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      out += chunk;
    });
  }
  await until(() => child.exitCode !== null, 300_000);
  return out;
}
