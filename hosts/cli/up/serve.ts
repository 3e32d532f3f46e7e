import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, resolve } from 'node:path';
import { createGateway, type PlanInput, present, readPlan, untilAborted } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { userPlace } from '@toolmgr/plugins/clients';
import { LONGEST_CALL_MS } from '../../client-files/call-timeout.ts';
import { type ClientFile, readClientFile } from '../../client-files/client-file.ts';
import type { EraSetting } from '../../client-files/eras.ts';
import { expansionContext } from '../../client-files/expand.ts';
import { serversIn } from '../../client-files/file-shapes.ts';
import { clientPlaces, type FoundFile, findClientFiles, shortPath } from '../../client-files/find-file.ts';
import type { FoundClient } from '../../client-files/found-clients.ts';
import { joinFiles } from '../../client-files/join-files.ts';
import { parseClientText } from '../../client-files/parse-client-text.ts';
import { defaultPageRoutes } from '../../http/default-page.ts';
import { createSwitch } from '../../http/gateway-switch.ts';
import { isLoopbackHost, LOOPBACK_NAMES, refuseTakenPort, serveGateway } from '../../http/listen.ts';
import { statusRoutes } from '../../http/status-routes.ts';
import { ALLOWED_ORIGINS } from '../../shared/allowed-origins.ts';
import { CALL_TIMEOUT_MS } from '../../shared/call-timeout.ts';
import { widenYoungGeneration } from '../../shared/engine.ts';
import { createGatewayLog, type LogFormat } from '../../shared/gateway-log/index.ts';
import { showStarts } from '../../shared/gateway-log/show-starts.ts';
import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { httpClientFrom } from '../../shared/http-client.ts';
import { logUnhandledRejections } from '../../shared/log-unhandled-rejections.ts';
import { serveControl } from '../../shared/running/serve-control.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { VERSION } from '../../shared/version.ts';
import { serveStdio } from '../../stdio/serve-stdio.ts';
import { takeStdout } from '../../stdio/take-stdout.ts';
import { requireAgreement, requireAgreementToChange } from './agreed-files.ts';
import { CLIENT_SERVERS, createClientServers } from './client-servers.ts';
import { printHints, printServed } from './print-served.ts';
import { createStoredLists } from './stored-lists.ts';
import { type WatchedFile, watchFiles } from './watch-files.ts';

/** Flags of `toolmgr up`. */
export interface UpOptions {
  readonly host: string;
  readonly port: number;
  readonly watch?: boolean;
  /** `false`: destructive tools are called without asking a person. */
  readonly ask?: boolean;
  /** Serves one client over standard input and output instead of listening. */
  readonly stdio?: boolean;
  /** Serves all files of this client. */
  readonly client?: FoundClient;
  /** Serves all files of all clients. */
  readonly all?: boolean;
  /** Era of servers whose entry in the file has none. */
  readonly era?: EraSetting;
  /** Milliseconds a call may take without progress, for servers without their own timeout. */
  readonly timeout?: number;
  readonly debug?: boolean;
  readonly logFormat?: LogFormat;
  /** Origins of pages that may connect. */
  readonly allowedOrigins?: readonly string[];
  /** Milliseconds for the first start of a program. */
  readonly startTimeout?: number;
  /** Bytes. */
  readonly memoryBudget?: number;
}

/**
 * Serves a client configuration file until a signal stops it.
 * @throws UsageError and GatewayFault with a message for the user, before anything is served
 */
export async function up(given: string | undefined, options: UpOptions): Promise<void> {
  if (given !== undefined && (options.client !== undefined || options.all)) {
    throw new UsageError('give a file, or --client NAME, or --all');
  }
  const files =
    given === undefined ? await findFiles(options) : [{ file: given, text: await readText(given), isOfProject: false }];
  refuseLoop(files);
  const port = options.stdio === true || options.port === 0 ? undefined : options.port;
  const read = async (): Promise<ClientFile> => {
    const all = await Promise.all(
      files.map(async ({ file, text }) => ({
        file: shortPath(file),
        read: await readClientFile(text, file, expansionContext(file)),
      })),
    );
    return withEra(joinFiles(all, port), options.era);
  };
  const readMarked = async (): Promise<ClientFile> => marked(await read(), files);
  const first = await readMarked();
  for (const note of first.notes) stderr.line(`${stderr.yellow('note')} ${oneLine(note)}`);
  const named = files.map(({ file }) => shortPath(file)).join(', ');
  if (first.backends.length === 0) throw new UsageError(`${named}: no server is left to serve`);
  await requireAgreement(files, first.backends, { hasTerminal: options.stdio !== true });

  using gatewayLog = createGatewayLog({ level: options.debug ? 'debug' : 'warn', format: options.logFormat });
  const { log } = gatewayLog;
  using _ = logUnhandledRejections(log);
  const servers = createClientServers(first);
  const planned = upPlan(isLoopbackHost(options.host), options);
  const plan = { ...planned, ...httpClientFrom(process.env) };
  const { limits } = readPlan(plan);
  const isLoopback = isLoopbackHost(options.host);
  const file = resolve(files[0]?.file ?? '');
  using stop = stopSignal();
  const output = options.stdio === true ? takeStdout() : undefined;
  const watch = (): void => {
    if (options.watch !== true) return;
    const agreement = { hasTerminal: options.stdio !== true, signal: stop.signal };
    const followed = {
      read: readMarked,
      agree: (one: WatchedFile, next: ClientFile) => requireAgreementToChange(one, servers.current(), next, agreement),
      replace: servers.replace,
    };
    watchFiles(files, followed, stop.signal);
  };
  if (options.stdio !== true) await refuseTakenPort(options); // before any program starts
  gatewayLog.holdFailures(); // printServed shows them
  const listStore = createStoredLists({ headersOf: (backend) => servers.current().headers.get(backend), log });
  const gateway = await createGateway(plan, {
    ownsProcess: true,
    ...{ catalogue, plugins: [servers.plugin], log, listStore },
    originOption: ALLOWED_ORIGINS.name,
  });
  await using gatewaySwitch = createSwitch(gateway);
  if (output !== undefined) {
    void gateway.settled().then(() => printServed(gateway, gatewayLog, 'standard input and output', named));
    showStarts({
      ...{ gateway: () => gateway, gatewayLog, say: (line) => stderr.line(line), signal: stop.signal },
      saysRecoveries: true,
    });
    watch();
    await using _control = await serveControl({
      ...{ gateway: () => gateway, log, lines: gatewayLog, signal: stop.signal },
      about: { kind: 'up --stdio', name: 'up', file },
    });
    await serveStdio({
      gateway,
      limits,
      input: process.stdin,
      output,
      log,
      signal: stop.signal,
    });
    await Promise.all([gatewaySwitch.stop(), listStore.written()]);
    setTimeout(() => process.exit(), EXIT_MS).unref(); // what a client does not read does not delay the exit
    return;
  }
  await using served = await serveGateway(gatewaySwitch, {
    host: options.host,
    port: options.port,
    limits,
    ...(isLoopback ? { allowedHosts: LOOPBACK_NAMES } : {}),
    routes: [
      ...statusRoutes(gateway, {
        version: VERSION,
        groupRef: 'up',
        mode: 'dynamic',
        authTypeOf: servers.authTypeOf,
      }),
      ...defaultPageRoutes({
        gateway: () => gateway,
        mcpPath: '/mcp',
        authTypeOf: servers.authTypeOf,
        isOpen: () => isLoopback,
      }),
    ],
  });
  await using _control = await serveControl({
    gateway: () => gateway,
    log,
    lines: gatewayLog,
    about: { kind: 'up', name: 'up', url: `${served.url}/mcp`, file },
    signal: stop.signal,
  });
  if (!isLoopback) {
    stderr.line(
      `${stderr.yellow('warning')} everyone who can reach ${options.host}:${served.port} can call these tools`,
    );
  }
  void gateway.settled().then(widenYoungGeneration);
  void gateway.settled().then(() => {
    printServed(gateway, gatewayLog, `${served.url}/mcp`, named);
    printHints(`${served.url}/mcp`, options.watch === true);
  });
  showStarts({
    ...{ gateway: () => gateway, gatewayLog, say: (line) => stderr.line(line), signal: stop.signal },
    saysRecoveries: true,
  });
  watch();
  await untilAborted(stop.signal);
  stderr.line('stopping');
  await Promise.all([served.close(limits.stopMs), gatewaySwitch.stop(), listStore.written()]);
  gatewayLog.close(); // its counts come before the last line
  stderr.line('stopped');
}

/** The plan of `up`: anonymous callers, tool names prefixed by the server, backends from the file. */
export function upPlan(
  loopback: boolean,
  { ask = true, timeout = CALL_TIMEOUT_MS, startTimeout, memoryBudget, allowedOrigins }: PlanOptions = {},
): PlanInput {
  return {
    name: 'toolmgr-up',
    plugins: [
      { use: 'secrets/environment' },
      { use: 'incoming-auth/anonymous' },
      { use: CLIENT_SERVERS },
      { use: 'aggregation', with: {} },
      ...(ask ? [{ use: 'confirmation', with: { cannotAsk: 'allow' } }] : []), // most clients ask by themselves
    ],
    outgoingAuth: { default: { type: CLIENT_SERVERS } },
    // the client has its own time limit, and that of this hop must not be shorter
    timeouts: { defaultMs: timeout },
    limits: {
      callTotalMs: LONGEST_CALL_MS,
      ...present({ firstStartMs: startTimeout, memoryBudgetBytes: memoryBudget }),
    },
    endpoint: { loopback, ...(allowedOrigins === undefined ? {} : { allowedOrigins: [...allowedOrigins] }) },
  };
}

/** Flags that are part of the plan. */
type PlanOptions = Pick<UpOptions, 'ask' | 'timeout' | 'startTimeout' | 'memoryBudget' | 'allowedOrigins'>;

const EXIT_MS = 250;

function withEra(file: ClientFile, era: EraSetting | undefined): ClientFile {
  if (era === undefined) return file;
  return { ...file, backends: file.backends.map((backend) => ({ era, ...backend })) };
}

/** The files that the flags choose; says which are used and which are not. */
async function findFiles({ client, all }: UpOptions): Promise<WatchedFile[]> {
  const places = clientPlaces(process.cwd(), userPlace(process.env, process.platform, homedir()));
  const { used, others } = await findClientFiles(places, { client, all }, hasServers);
  stderr.line(`reading ${used.map(({ file }) => shortPath(file)).join(', ')}`);
  if (others.length > 0) {
    stderr.line(`not read: ${others.map(shortPath).join(', ')}; --all joins all files, --client NAME chooses a client`);
  }
  return used.map(({ file, text, isOfProject }) => ({ file, text, isOfProject }));
}

/** Files that cannot be parsed count: their error is reported when they are read. */
async function hasServers({ file, text }: FoundFile): Promise<boolean> {
  try {
    const servers = serversIn(await parseClientText(text, file), expansionContext(file).folder);
    return servers !== undefined && Object.keys(servers).length > 0;
  } catch {
    return true;
  }
}

/**
 * Refuses a file that a gateway above this process serves: an entry that starts `toolmgr up` in a way that is not recognized, e.g. a
 * script, would start gateways without end.
 */
function refuseLoop(files: readonly FoundFile[]): void {
  const above = (process.env[SERVED_FILES] ?? '').split(delimiter);
  const again = files.find(({ file }) => above.includes(resolve(file)));
  if (again === undefined) return;
  throw new UsageError(
    `${again.file} is served by the toolmgr that started this one; remove the entry that starts toolmgr`,
  );
}

/** Programs get the paths of the files in an environment variable: see `refuseLoop`. */
function marked(file: ClientFile, files: readonly FoundFile[]): ClientFile {
  const above = process.env[SERVED_FILES];
  const paths = [...(above === undefined ? [] : [above]), ...files.map((one) => resolve(one.file))].join(delimiter);
  const backends = file.backends.map((backend) =>
    backend.command === undefined
      ? backend
      : { ...backend, command: { ...backend.command, env: { [SERVED_FILES]: paths, ...backend.command.env } } },
  );
  return { ...file, backends };
}

const SERVED_FILES = 'TOOLMGR_SERVED_FILES';

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${cause.code})`;
    throw new UsageError(`${file}: ${why}`);
  });
}
