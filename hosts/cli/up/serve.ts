import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, relative, resolve } from 'node:path';
import { createGateway, type EraSetting, type Gateway, type PlanInput, readPlan, untilAborted } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { createSwitch } from '../../http/gateway-switch.ts';
import { isLoopbackHost, LOOPBACK_NAMES, serveGateway } from '../../http/listen.ts';
import { statusRoutes } from '../../http/status-routes.ts';
import { widenYoungGeneration } from '../../shared/engine.ts';
import { createGatewayLog, type GatewayLog, type LogFormat } from '../../shared/gateway-log/index.ts';
import { showStarts } from '../../shared/gateway-log/show-starts.ts';
import { httpClientFrom } from '../../shared/http-client.ts';
import { logUnhandledRejections } from '../../shared/log-unhandled-rejections.ts';
import { serveControl } from '../../shared/running/serve-control.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { printable, stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { VERSION } from '../../shared/version.ts';
import { watchText } from '../../shared/watch-text.ts';
import { serveStdio } from '../../stdio/serve-stdio.ts';
import { takeStdout } from '../../stdio/take-stdout.ts';
import { backendLine } from './backend-line.ts';
import { LONGEST_CALL_MS } from './call-timeout.ts';
import { type ClientFile, readClientFile } from './client-file.ts';
import { CLIENT_SERVERS, createClientServers } from './client-servers.ts';
import { clientFilePaths, findClientFile } from './find-file.ts';

/** Flags of `toolmgr up`. */
export interface UpOptions {
  readonly host: string;
  readonly port: number;
  readonly watch?: boolean;
  /** Serves one client over standard input and output instead of listening. */
  readonly stdio?: boolean;
  /** Era of servers whose entry in the file has none. */
  readonly era?: EraSetting;
  /** Milliseconds a call may take without progress, for servers without their own timeout. */
  readonly timeout?: number;
  readonly debug?: boolean;
  readonly logFormat?: LogFormat;
  /** Milliseconds for the first start of a program. */
  readonly startTimeout?: number;
}

/**
 * Serves a client configuration file until a signal stops it.
 * @throws UsageError and GatewayFault with a message for the user, before anything is served
 */
export async function up(given: string | undefined, options: UpOptions): Promise<void> {
  const file = given ?? (await findFile());
  const text = await readText(file);
  const read = async (next: string): Promise<ClientFile> =>
    withEra(await readClientFile(next, file, expansionContext(file)), options.era);
  const first = await read(text);
  for (const note of first.notes) stderr.line(`${stderr.yellow('note')} ${note}`);
  if (first.backends.length === 0) throw new UsageError(`${file}: no server is left to serve`);

  using gatewayLog = createGatewayLog({ level: options.debug ? 'debug' : 'warn', format: options.logFormat });
  const { log } = gatewayLog;
  using _ = logUnhandledRejections(log);
  const servers = createClientServers(first);
  const times = { timeoutMs: options.timeout, firstStartMs: options.startTimeout };
  const plan = { ...upPlan(isLoopbackHost(options.host), times), ...httpClientFrom(process.env) };
  const { limits } = readPlan(plan);
  const isLoopback = isLoopbackHost(options.host);
  using stop = stopSignal();
  const output = options.stdio === true ? takeStdout() : undefined;
  const gateway = await createGateway(plan, { catalogue, plugins: [servers.plugin], log });
  await using gatewaySwitch = createSwitch(gateway);
  if (output !== undefined) {
    void gateway.settled().then(() => printServed(gateway, gatewayLog, 'standard input and output', file));
    showStarts({ gateway: () => gateway, gatewayLog, say: (line) => stderr.line(line), signal: stop.signal });
    if (options.watch === true) watchText(file, text, (next) => void follow(next, read, servers.replace), stop.signal);
    const { endpoint } = readPlan(plan);
    await serveStdio({
      gateway: () => gateway,
      endpoint,
      limits,
      input: process.stdin,
      output,
      log,
      signal: stop.signal,
    });
    await gatewaySwitch.stop();
    setTimeout(() => process.exit(), EXIT_MS).unref(); // what a client does not read does not delay the exit
    return;
  }
  await using served = await serveGateway(gatewaySwitch, {
    host: options.host,
    port: options.port,
    limits,
    ...(isLoopback ? { allowedHosts: LOOPBACK_NAMES } : {}),
    routes: statusRoutes(gateway, {
      version: VERSION,
      groupRef: 'up',
      mode: 'dynamic',
      authTypeOf: (name) => (servers.current().headers.has(name) ? 'header_injection' : 'unauthenticated'),
    }),
  });
  await using _control = await serveControl({
    gateway: () => gateway,
    log,
    lines: gatewayLog,
    about: { kind: 'up', name: 'up', url: `${served.url}/mcp`, file: resolve(file) },
    signal: stop.signal,
  });
  if (!isLoopback) {
    stderr.line(
      `${stderr.yellow('warning')} everyone who can reach ${options.host}:${served.port} can call these tools`,
    );
  }
  void gateway.settled().then(widenYoungGeneration);
  void gateway.settled().then(() => {
    printServed(gateway, gatewayLog, `${served.url}/mcp`, file);
    printHints(`${served.url}/mcp`, options.watch === true);
  });
  showStarts({ gateway: () => gateway, gatewayLog, say: (line) => stderr.line(line), signal: stop.signal });
  if (options.watch === true) {
    watchText(file, text, (next) => void follow(next, read, servers.replace), stop.signal);
  }
  await untilAborted(stop.signal);
  stderr.line('stopping');
  await Promise.all([served.close(limits.stopMs), gatewaySwitch.stop()]);
}

/** The plan of `up`: anonymous callers, tool names prefixed by the server, backends from the file. */
export function upPlan(loopback: boolean, { timeoutMs = CALL_TIMEOUT_MS, firstStartMs }: UpTimes = {}): PlanInput {
  return {
    name: 'toolmgr-up',
    plugins: [
      { use: 'secrets/environment' },
      { use: 'incoming-auth/anonymous' },
      { use: CLIENT_SERVERS },
      { use: 'aggregation', with: {} },
    ],
    outgoingAuth: { default: { type: CLIENT_SERVERS } },
    // the client has its own time limit, and that of this hop must not be shorter
    timeouts: { defaultMs: timeoutMs },
    limits: { callTotalMs: LONGEST_CALL_MS, ...(firstStartMs === undefined ? {} : { firstStartMs }) },
    endpoint: { loopback },
  };
}

/** Times in milliseconds from the flags of `up`. */
interface UpTimes {
  readonly timeoutMs?: number | undefined;
  readonly firstStartMs?: number | undefined;
}

const CALL_TIMEOUT_MS = 600_000;
const EXIT_MS = 250;

async function follow(
  text: string,
  read: (text: string) => Promise<ClientFile>,
  replace: (file: ClientFile) => void,
): Promise<void> {
  try {
    const next = await read(text);
    for (const note of next.notes) stderr.line(`${stderr.yellow('note')} ${note}`);
    replace(next);
    stderr.line(`changed: now ${next.backends.map(({ name }) => name).join(', ') || 'no server'}`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    stderr.line(`${stderr.yellow('not used')} ${why}; the previous servers stay`);
  }
}

function withEra(file: ClientFile, era: EraSetting | undefined): ClientFile {
  if (era === undefined) return file;
  return { ...file, backends: file.backends.map((backend) => ({ era, ...backend })) };
}

async function findFile(): Promise<string> {
  const files = clientFilePaths(process.cwd(), homedir());
  const file = await findClientFile(files);
  if (file === undefined) {
    throw new UsageError(
      `no client configuration was found; looked for ${files.map(shortPath).join(', ')}. Give one: toolmgr up FILE`,
    );
  }
  stderr.line(`serving ${shortPath(file)}`);
  return file;
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${cause.code})`;
    throw new UsageError(`${file}: ${why}`);
  });
}

/** Relative paths of a file in `.vscode` or `.cursor` are relative to the project, one folder up. */
function expansionContext(file: string): { env: NodeJS.ProcessEnv; home: string; folder: string } {
  const folder = dirname(resolve(file));
  const isInside = /[\\/]\.(vscode|cursor)$/.test(folder);
  return { env: process.env, home: homedir(), folder: isInside ? dirname(folder) : folder };
}

function printServed(gateway: Gateway, gatewayLog: GatewayLog, at: string, file: string): void {
  const tools = gateway.catalog().visible('tool');
  stderr.line(`${stderr.bold('toolmgr')} serves ${shortPath(file)} at ${stderr.bold(at)}`);
  for (const state of gateway.backends()) {
    const count = tools.filter((tool) => tool.backend === state.backend.name).length;
    stderr.line(`  ${state.backend.name}  ${backendLine(state, count)}`);
    const said = state.cause === undefined ? [] : gatewayLog.lastWords(state.backend.name);
    for (const line of said) stderr.line(`    ${stderr.dim(printable(line))}`);
  }
}

function printHints(url: string, watched: boolean): void {
  stderr.line(`try it: toolmgr tools --url ${url}`);
  stderr.line(
    watched
      ? 'the file is reloaded when it changes; Ctrl-C stops'
      : 'Ctrl-C stops; --watch reloads the file when it changes',
  );
}

function shortPath(file: string): string {
  const short = relative(process.cwd(), file);
  return short === '' || short.startsWith('..') ? file : short;
}
