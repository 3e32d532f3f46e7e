import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createGateway, DEFAULT_LIMITS, explainCause, type Gateway, GatewayFault, untilAborted } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { gatewayPageRoutes } from '../../http/gateway-page.ts';
import { createSwitch } from '../../http/gateway-switch.ts';
import { LOOPBACK_NAMES, serveGateway } from '../../http/listen.ts';
import { createCallFeed } from '../../http/recent-calls/feed.ts';
import { RECENT_CALLS, recentCallsPlugin } from '../../http/recent-calls/plugin.ts';
import { statusRoutes } from '../../http/status-routes.ts';
import { ALLOWED_ORIGINS } from '../../shared/allowed-origins.ts';
import { connect } from '../../shared/client/mcp-client.ts';
import { prepareEngine, widenYoungGeneration } from '../../shared/engine.ts';
import { createGatewayLog } from '../../shared/gateway-log/index.ts';
import { LOG_FORMATS, type LogFormat } from '../../shared/gateway-log/log-format.ts';
import { showStarts } from '../../shared/gateway-log/show-starts.ts';
import { logUnhandledRejections } from '../../shared/log-unhandled-rejections.ts';
import { portOwner } from '../../shared/running/port-owner.ts';
import { serveControl } from '../../shared/running/serve-control.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { VERSION } from '../../shared/version.ts';
import { SERVER_NAMES, startPlan } from './plan.ts';

const HOST = '127.0.0.1';
const DEFAULT_PORT = 4483;
/** Time limit for all three servers, including a first download from the registry. */
const READY_MS = DEFAULT_LIMITS.firstStartMs;
const POLL_MS = 25;
const PARENT_POLL_MS = 250;
const CALL_TIMEOUT_MS = 30_000;

/**
 * `npm start`: serves three published servers behind one endpoint, makes one call, and prints the next steps.
 * Runs until Ctrl-C or SIGTERM, and leaves no process and no file behind.
 */
async function start(argv: readonly string[]): Promise<void> {
  prepareEngine();
  const { port, logFormat } = optionsFrom(argv);
  const startedMs = performance.now();
  await expectFreePort(port);
  using stop = stopSignal();
  if (process.env.npm_lifecycle_event !== undefined) endWithParent();
  await using scratch = await scratchFolder();
  const plan = await startPlan(scratch.path, resolve(import.meta.dirname, '..', '..', '..'));
  stderr.line(stderr.dim(`starting ${SERVER_NAMES.join(', ')} …`));
  using gatewayLog = createGatewayLog({ level: 'error', format: logFormat });
  const { log } = gatewayLog;
  using _ = logUnhandledRejections(log);
  const feed = createCallFeed();
  const paged = { ...plan, plugins: [...plan.plugins, { use: RECENT_CALLS }] };
  const gateway = await createGateway(paged, {
    catalogue,
    log,
    plugins: [recentCallsPlugin(feed)],
    originOption: `toolmgr up ${ALLOWED_ORIGINS.name}`,
  });
  await using gatewaySwitch = createSwitch(gateway);
  await using served = await serveGateway(gatewaySwitch, {
    host: HOST,
    port,
    allowedHosts: LOOPBACK_NAMES,
    routes: [
      ...statusRoutes(gateway, {
        version: VERSION,
        groupRef: 'start',
        mode: 'dynamic',
        authTypeOf: () => 'unauthenticated',
      }),
      ...gatewayPageRoutes({ gateway: () => gateway, feed, mcpPath: '/mcp' }),
    ],
  });
  await using _control = await serveControl({
    gateway: () => gateway,
    log,
    lines: gatewayLog,
    about: { kind: 'start', name: 'start', url: `${served.url}/mcp` },
    signal: stop.signal,
  });
  showStarts({
    ...{ gateway: () => gateway, gatewayLog, say: (line) => stderr.line(line), signal: stop.signal },
    saysRecoveries: true,
  });
  if (await ready(gateway, stop.signal)) {
    widenYoungGeneration();
    await printSummary(gateway, `${served.url}/mcp`, scratch.path, performance.now() - startedMs);
    await untilAborted(stop.signal);
  }
  stdout.line('\nstopping …');
  await Promise.all([served.close(), gatewaySwitch.stop()]);
  stdout.line('stopped; no process is left');
}

/**
 * Stops when the parent shell or the npm above it ends: npm sends SIGTERM only to that shell, which ends without forwarding it, and
 * SIGHUP to no one.
 */
function endWithParent(): void {
  const parent = process.ppid;
  const above = Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(parent)], { encoding: 'utf8' }).stdout);
  const watching = setInterval(() => {
    if (process.ppid === parent && !(above > 1 && hasEnded(above))) return;
    clearInterval(watching);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_POLL_MS).unref();
}

function hasEnded(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Creates the folder of the filesystem and memory servers; disposing removes it. */
async function scratchFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'toolmgr-start-'));
  // a second Ctrl-C ends the process without disposing anything
  process.once('exit', () => rmSync(path, { recursive: true, force: true }));
  await writeFile(join(path, 'hello.txt'), 'This folder belongs to the filesystem server of npm start.\n');
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function optionsFrom(argv: readonly string[]): { readonly port: number; readonly logFormat: LogFormat | undefined } {
  let given: { readonly port?: string; readonly 'log-format'?: string };
  try {
    const options = { port: { type: 'string' }, 'log-format': { type: 'string' } } as const;
    given = parseArgs({ args: [...argv], options }).values;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`${why}; known: npm start -- --port 4484 --log-format json`);
  }
  const { 'log-format': format } = given;
  const logFormat = LOG_FORMATS.find((known) => known === format);
  if (format !== undefined && logFormat === undefined) {
    throw new UsageError(`--log-format ${format} is not ${LOG_FORMATS.join(' or ')}`);
  }
  return { port: portFrom(given.port ?? process.env.PORT ?? String(DEFAULT_PORT)), logFormat };
}

function portFrom(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`port ${text} is not a number from 0 to 65535; try PORT=4484 npm start`);
}

/** Checks the port before any server is started; the real listener checks it again. */
async function expectFreePort(port: number): Promise<void> {
  try {
    await (await serveGateway({ handle: () => {} }, { host: HOST, port })).close(0);
  } catch (cause) {
    if (!(cause instanceof GatewayFault) || port === 0) throw cause;
    const { who, advice } = await portOwner(port);
    throw new UsageError(
      `port ${port} on ${HOST} is taken by ${who}; ${advice}, or take another port: PORT=${port + 1} npm start`,
    );
  }
}

/** Waits until the tools of every server are listed; false when `signal` aborted first. */
async function ready(gateway: Gateway, signal: AbortSignal): Promise<boolean> {
  const deadlineMs = performance.now() + READY_MS;
  const missing = (): readonly string[] => {
    const tools = gateway.catalog().visible('tool');
    return SERVER_NAMES.filter((name) => !tools.some((tool) => tool.backend === name));
  };
  while (missing().length > 0 && !signal.aborted) {
    if (performance.now() > deadlineMs) throw notReady(gateway, missing());
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return !signal.aborted;
}

function notReady(gateway: Gateway, missing: readonly string[]): UsageError {
  const reasons = missing.map((name) => {
    const state = gateway.backends().find(({ backend }) => backend.name === name);
    return `${name} (${state?.cause?.message ?? 'it did not start'})`;
  });
  return new UsageError(
    `no answer from ${reasons.join(', ')} after ${READY_MS / 1000} s. Run npm ci, then npm start again. npm ci needs a registry that it can reach (npm ping)`,
  );
}

/** Makes the first call and prints the next steps. */
async function printSummary(gateway: Gateway, url: string, scratch: string, elapsedMs: number): Promise<void> {
  const seconds = (elapsedMs / 1000).toFixed(1);
  const called = await firstCall(url);
  const tools = gateway.catalog().visible('tool');
  const rows = SERVER_NAMES.map((name) => {
    const own = tools.filter((tool) => tool.backend === name).map((tool) => tool.key);
    return [name, `${own.length} tools`, `${own.slice(0, 3).join(', ')}, …`];
  });
  const configuration = { mcpServers: { toolmgr: { type: 'http', url } } };
  stdout.line(`${stdout.bold('toolmgr')} serves ${stdout.bold(url)} ${stdout.dim(`(after ${seconds} s)`)}`);
  stdout.line();
  for (const line of columns(rows, '  ')) stdout.line(line);
  stdout.line(stdout.dim(`  the filesystem server uses the folder ${scratch}, which is deleted when toolmgr stops`));
  stdout.line();
  stdout.line(`A first call:  ${called.asked}`);
  stdout.line(`       answer  ${stdout.green(called.answered)}`);
  stdout.line();
  stdout.line('For Claude Code, Cursor or VS Code (in VS Code the key is "servers"):');
  stdout.json(configuration);
  stdout.line();
  stdout.line(`The page with its tools and calls: ${new URL('/', url)}`);
  stdout.line();
  stdout.line('Try it from another terminal:');
  stdout.line(`  npm run -s toolmgr -- tools --url ${url}`);
  stdout.line(`  npm run -s toolmgr -- call everything_get-sum a=1 b=2 --url ${url}`);
  stdout.line();
  stdout.line('Ctrl-C stops everything.');
}

async function firstCall(url: string): Promise<{ readonly asked: string; readonly answered: string }> {
  const message = 'hello from toolmgr';
  const client = await connect(url, { timeoutMs: CALL_TIMEOUT_MS });
  try {
    const result = await client.callTool({ name: 'everything_echo' }, { message });
    const [block] = Array.isArray(result.content) ? result.content : [];
    const answered = (block as { readonly text?: string } | undefined)?.text;
    if (result.isError === true || answered === undefined)
      throw new UsageError('the first call failed: everything_echo');
    return { asked: `everything_echo ${JSON.stringify({ message })}`, answered };
  } finally {
    await client.close();
  }
}

try {
  await start(process.argv.slice(2));
} catch (cause) {
  stderr.line(`${stderr.red('toolmgr:')} ${explainCause(cause)}`);
  process.exitCode = 1;
}
