import { dirname, resolve } from 'node:path';
import {
  createGateway,
  explainCause,
  type Gateway,
  type Log,
  type Plan,
  readPlan,
  type ToolEntry,
  untilAborted,
} from '@toolmgr/core';
import { catalogue, environmentSecrets, readOptionalSecretFrom } from '@toolmgr/plugins';
import { defaultPageRoutes } from '../http/default-page.ts';
import { gatewayPageRoutes } from '../http/gateway-page.ts';
import { createSwitch } from '../http/gateway-switch.ts';
import { isLoopbackHost, LOOPBACK_NAMES, refuseTakenPort, serveGateway } from '../http/listen.ts';
import type { PageAccess } from '../http/page-access.ts';
import { createCallFeed } from '../http/recent-calls/feed.ts';
import { RECENT_CALLS, recentCallsPlugin } from '../http/recent-calls/plugin.ts';
import { widenYoungGeneration } from '../shared/engine.ts';
import { createGatewayLog, type GatewayLog, type LogFormat } from '../shared/gateway-log/index.ts';
import { showStarts } from '../shared/gateway-log/show-starts.ts';
import { httpClientFrom } from '../shared/http-client.ts';
import { logUnhandledRejections } from '../shared/log-unhandled-rejections.ts';
import { serveControl } from '../shared/running/serve-control.ts';
import { stopSignal } from '../shared/stop-signal.ts';
import { stderr } from '../shared/terminal.ts';
import { UsageError } from '../shared/usage-error.ts';
import { watchText } from '../shared/watch-text.ts';
import { serveStdio } from '../stdio/serve-stdio.ts';
import { takeStdout } from '../stdio/take-stdout.ts';
import { clientUrl } from './client-url.ts';
import { isPod } from './cluster/is-pod.ts';
import type { VmcpConfig } from './config-schema.ts';
import { factsOf } from './facts.ts';
import { groupConfig } from './group-config.ts';
import { type HostRoutes, hostRoutes } from './host-routes.ts';
import { type PlanFlags, planFromConfig, type SectionedConfig } from './plan.ts';
import { type ReadConfig, readConfig, readConfigText } from './read-config.ts';
import { sectionsOf } from './sections.ts';
import { checkStatusPages, createStatusPages } from './status-pages.ts';
import type { StatusPagesConfig } from './status-pages-schema.ts';

/** Flags of `vmcp serve`. */
export interface ServeOptions {
  readonly config?: string;
  readonly group?: string;
  readonly host: string;
  readonly port: number;
  readonly sessionTtl?: number;
  readonly statusPort?: number;
  readonly statusTokenEnv?: string;
  readonly enableAudit?: boolean;
  /** Serves one client over standard input and output instead of listening. */
  readonly stdio?: boolean;
  /** Serves the page of the browser with the status pages. */
  readonly page?: boolean;
  readonly debug?: boolean;
  readonly logFormat?: LogFormat;
}

/**
 * Serves a vmcp file or a group until a signal stops it. The file is reloaded on change and on SIGHUP.
 * @throws UsageError and GatewayFault with a message for the user, before anything is served
 */
export async function serve(options: ServeOptions): Promise<void> {
  const source = await sourceOf(options);
  using gatewayLog = createGatewayLog({ level: levelOf(options, source.config), format: options.logFormat });
  const { log } = gatewayLog;
  using _ = logUnhandledRejections(log);
  const secrets = environmentSecrets(process.env);
  const stateKey = (await readOptionalSecretFrom(secrets, 'TOOLMGR_STATE_KEY'))?.reveal();
  const flags: PlanFlags = {
    loopback: isLoopbackHost(options.host),
    switchedOn: switchedOnBy(options),
    ...(stateKey === undefined ? {} : { stateKey }),
    ...(options.sessionTtl ? { sessionTtlMs: options.sessionTtl } : {}),
  };
  const feed = options.page === true ? createCallFeed() : undefined;
  const open: OpenGateway = async (read, before) => {
    const planned = { ...httpClientFrom(process.env), ...planFromConfig(read, flags) };
    const input = feed === undefined ? planned : { ...planned, plugins: [...planned.plugins, { use: RECENT_CALLS }] };
    const successor = before === undefined ? {} : { successorOf: before };
    const plugins = feed === undefined ? [] : [recentCallsPlugin(feed)];
    const gateway = await createGateway(input, { catalogue, log, plugins, baseDir: source.baseDir, ...successor });
    return { gateway, plan: readPlan(input) };
  };
  if (options.stdio === true) return await serveOnStdio(source, open, gatewayLog);
  await refuseTakenPort(options);
  await checkStatusPages(statusPagesOf(options, source.config), secrets);
  for (const warning of exposureWarnings(options, source)) stderr.line(`${stderr.yellow('warning')} ${warning}`);
  using stop = stopSignal(['SIGINT', 'SIGTERM']);
  const pod = isPod(source.config) ? (await import('./cluster/pod.ts')).podOf(source.config, process.env) : undefined;
  const first = await open(source);
  await using gatewaySwitch = createSwitch(first.gateway, (cause) =>
    log.error('a gateway failed to stop', { cause: explainCause(cause) }),
  );
  const now = { config: source.config, sections: source.sections, plan: first.plan, isPod: pod !== undefined };
  const { limits, endpoint } = first.plan;
  const isGuarded = (): boolean => statusPages.access() !== undefined;
  const pagesFor = (access: () => PageAccess | undefined): HostRoutes => {
    const routes = hostRoutes(gatewaySwitch, now, access, isGuarded);
    if (feed === undefined) return routes;
    const page = gatewayPageRoutes({ gateway: () => gatewaySwitch.current, feed, mcpPath: endpoint.path, access });
    return { ...routes, pages: [...routes.pages, ...page] };
  };
  await using statusPages = createStatusPages({
    pages: (access) => pagesFor(access).pages,
    limits,
    secrets,
  });
  (await statusPages.prepare(statusPagesOf(options, source.config))).take();
  const atMain = pagesFor(statusPages.access);
  const isOpen = (): boolean =>
    flags.loopback === true && !isGuarded() && factsOf(now.config, now.sections).callers === 'anonymous';
  await using served = await serveGateway(gatewaySwitch, {
    host: options.host,
    port: options.port,
    routes: [
      ...atMain.open,
      ...atMain.pages,
      ...(feed === undefined
        ? defaultPageRoutes({ gateway: () => gatewaySwitch.current, mcpPath: endpoint.path, isOpen })
        : []),
    ],
    ...(flags.loopback ? { allowedHosts: LOOPBACK_NAMES } : {}),
    limits,
  });
  stderr.line(`toolmgr: ${now.config.name} serves ${served.url}${endpoint.path} (Ctrl-C stops)`);
  if (endpoint.path !== '/' && (feed === undefined ? isOpen() : !isGuarded()))
    stderr.line(`toolmgr: the page is at ${served.url}/`);
  const forClients = clientUrl(factsOf(source.config, source.sections), `${served.url}${endpoint.path}`);
  if (forClients !== undefined) stderr.line(`toolmgr: clients use ${forClients}, for which tokens are issued`);
  if (isGuarded()) stderr.line(`toolmgr: ${statusPages.describe()}`);
  void logBackends(gatewaySwitch.current, log);
  showStarts({
    gateway: () => gatewaySwitch.current,
    gatewayLog,
    say: (line) => log.info(line),
    signal: stop.signal,
  });
  // other commands reach a pod through its cluster
  await using _control =
    pod === undefined
      ? await serveControl({
          gateway: () => gatewaySwitch.current,
          log,
          lines: gatewayLog,
          about: {
            kind: 'vmcp serve',
            name: now.config.name,
            url: `${served.url}${endpoint.path}`,
            ...fileOf(source),
          },
          signal: stop.signal,
        })
      : undefined;
  const reporting = pod?.report(() => gatewaySwitch.current, log, stop.signal);
  // The file of a pod is changed by a rollout: a running pod keeps the configuration that it reports.
  pod?.ignoreHangup(log, stop.signal);
  const followed = pod === undefined ? source : { ...source, follow: undefined };
  followFile(followed, stop.signal, log, async (read) => {
    const { config, warnings } = read;
    const pages = await statusPages.prepare(statusPagesOf(options, config));
    const next = await open(read, gatewaySwitch.current).catch(async (cause) => {
      await pages.discard();
      throw cause;
    });
    gatewayLog.setLevel(levelOf(options, config));
    for (const warning of [...warnings, ...exposureWarnings(options, read)]) log.warn(warning);
    now.config = config;
    now.sections = read.sections;
    now.plan = next.plan;
    const before = statusPages.describe();
    pages.take();
    const describe = statusPages.describe() ?? 'the status pages are public at the port of the endpoint';
    if (statusPages.describe() !== before) log.info(describe);
    gatewaySwitch.exchange(next.gateway);
    log.info('configuration reloaded', { file: source.follow?.file ?? '' });
    void logBackends(next.gateway, log);
  });
  await untilAborted(stop.signal);
  gatewaySwitch.announceStop();
  if (pod !== undefined) {
    await pod.drain(gatewaySwitch.current, served);
    void served.close(limits.stopMs + CLOSE_MS);
  }
  // The listener stays open until the calls have ended: /readyz reports the stop, and new requests are refused with a reason.
  await gatewaySwitch.stop();
  await Promise.all([served.close(), reporting]);
  // a plugin that still waits after its time to stop, e.g. for an unreachable collector, does not delay the exit
  setTimeout(() => process.exit(), EXIT_MS).unref();
}

function fileOf({ follow }: ConfigSource): { readonly file?: string } {
  return follow === undefined ? {} : { file: resolve(follow.file) };
}

/** Serves a source to one client over standard input and output; nothing listens. */
async function serveOnStdio(source: ConfigSource, open: OpenGateway, gatewayLog: GatewayLog): Promise<void> {
  const { log } = gatewayLog;
  if (factsOf(source.config, source.sections).callers === 'token') {
    throw new UsageError(
      '--stdio has no headers for tokens: it serves files with incomingAuth.type anonymous or local; this one requires tokens',
    );
  }
  if (source.config.statusPages !== undefined) log.warn('statusPages has no effect with --stdio: nothing listens');
  const output = takeStdout();
  using stop = stopSignal(['SIGINT', 'SIGTERM']);
  const { gateway, plan } = await open(source);
  await using gatewaySwitch = createSwitch(gateway, (cause) =>
    log.error('a gateway failed to stop', { cause: explainCause(cause) }),
  );
  void logBackends(gateway, log);
  const gatewayNow = (): Gateway => gatewaySwitch.current;
  showStarts({ gateway: gatewayNow, gatewayLog, say: (line) => log.info(line), signal: stop.signal });
  followFile(source, stop.signal, log, async (read) => {
    const next = await open(read, gatewaySwitch.current);
    gatewaySwitch.exchange(next.gateway);
    for (const warning of read.warnings) log.warn(warning);
    log.info('configuration reloaded', { file: source.follow?.file ?? '' });
    void logBackends(next.gateway, log);
  });
  await using _control = await serveControl({
    ...{ gateway: gatewayNow, log, lines: gatewayLog, signal: stop.signal },
    about: { kind: 'vmcp serve --stdio', name: source.config.name, ...fileOf(source) },
  });
  const { endpoint, limits } = plan;
  await serveStdio({
    gateway: gatewayNow,
    ...{ endpoint, limits, log, output },
    input: process.stdin,
    signal: stop.signal,
  });
  await gatewaySwitch.stop();
  setTimeout(() => process.exit(), EXIT_MS).unref();
}

type OpenGateway = (read: SectionedConfig, before?: Gateway) => Promise<{ gateway: Gateway; plan: Plan }>;

const EXIT_MS = 250;
const CLOSE_MS = 2_000;

function levelOf({ debug }: ServeOptions, { operational }: VmcpConfig): 'debug' | 'info' {
  return debug || operational?.logLevel === 'debug' ? 'debug' : 'info';
}

/** Warnings about public addresses without authentication. */
function exposureWarnings(options: ServeOptions, { config, sections }: SectionedConfig): string[] {
  const { host } = options;
  const warnings: string[] = [];
  if (!isLoopbackHost(host) && factsOf(config, sections).callers === 'anonymous') {
    const solution = 'use type oidc to require a token';
    warnings.push(`everyone who can reach ${host} may call: incomingAuth.type is anonymous; ${solution}`);
  }
  const { host: pagesHost, tokenEnv } = statusPagesOf(options, config) ?? {};
  if (pagesHost !== undefined && !isLoopbackHost(pagesHost) && tokenEnv === undefined) {
    warnings.push(
      `everyone who can reach ${pagesHost} may read the status pages; set statusPages.tokenEnv to require a token`,
    );
  }
  return warnings;
}

/** The section of the file, overridden by flags. */
function statusPagesOf(options: ServeOptions, { statusPages }: VmcpConfig): StatusPagesConfig | undefined {
  const { statusPort, statusTokenEnv } = options;
  if (statusPort === undefined && statusTokenEnv === undefined) return statusPages;
  return {
    ...statusPages,
    ...(statusPort === undefined ? {} : { port: statusPort }),
    ...(statusTokenEnv === undefined ? {} : { tokenEnv: statusTokenEnv }),
  };
}

interface ConfigSource extends SectionedConfig {
  readonly baseDir: string;
  /** The file and its text, and how it is read when it has changed. */
  readonly follow?:
    | undefined
    | { readonly file: string; readonly text: string; read(text: string): Promise<ReadConfig> };
}

/** Sections that are on whatever the file says. */
function switchedOnBy({ enableAudit }: ServeOptions): readonly string[] {
  return enableAudit ? ['audit'] : [];
}

async function sourceOf(options: ServeOptions): Promise<ConfigSource> {
  const { config: file, group, host } = options;
  if (file !== undefined) {
    if (group !== undefined) stderr.line(`toolmgr: --group ${group} is ignored, because there is a file`);
    const text = await readConfigText(file);
    const read = async (next: string): Promise<ReadConfig> => {
      const config = await readConfig(next, file, catalogue, switchedOnBy(options));
      if (config.assumesAnonymous && !isLoopbackHost(host)) throw assumedAnonymous(file, host);
      return config;
    };
    const { config, sections, warnings } = await read(text);
    for (const warning of warnings) stderr.line(`${stderr.yellow('warning')} ${warning}`);
    return { config, sections, baseDir: dirname(resolve(file)), follow: { file, text, read } };
  }
  if (group === undefined) throw new UsageError('give a file (-c FILE) or a group of workloads (--group NAME)');
  if (!isLoopbackHost(host)) {
    throw new UsageError(
      `--group has no authentication, so it binds to loopback only; for --host ${host} write a file: toolmgr vmcp init -g ${group} -o vmcp.yaml`,
    );
  }
  const sections = await sectionsOf(catalogue);
  return { config: groupConfig(group, group, sections), sections, baseDir: process.cwd() };
}

function assumedAnonymous(file: string, host: string): UsageError {
  return new UsageError(
    `${file} has no incomingAuth, so it is served on loopback only; for --host ${host} add incomingAuth with type oidc, or with type anonymous if everyone who can reach it may call`,
  );
}

/** Waits until all backends have answered or timed out, then sets V8 up for calls and logs one line per backend. */
async function logBackends(gateway: Gateway, log: Log): Promise<void> {
  await gateway.settled();
  widenYoungGeneration();
  const tools = toolsOf(gateway);
  for (const { backend, status, era, cause, startingSinceMs, needsCaller } of gateway.backends()) {
    const fields = {
      backend: backend.name,
      status,
      tools: tools.filter((tool) => tool.backend === backend.name).length,
    };
    if (status === 'ready') log.info('backend ready', { ...fields, ...(era === undefined ? {} : { revision: era }) });
    else if (startingSinceMs !== undefined && cause === undefined) log.info('backend still starting', fields);
    else if (needsCaller)
      log.info('backend is asked for its lists with the credentials of each caller', { backend: backend.name });
    else log.warn('backend unavailable', { ...fields, ...(cause === undefined ? {} : { cause: cause.message }) });
  }
}

/** Empty while there is no catalogue, e.g. because names collide; the log has the reason. */
function toolsOf(gateway: Gateway): readonly ToolEntry[] {
  try {
    return gateway.catalog().allTools();
  } catch {
    return [];
  }
}

/** Reloads the file when it changes and on SIGHUP. An invalid file is logged and changes nothing. */
function followFile(
  { follow }: ConfigSource,
  signal: AbortSignal,
  log: Log,
  take: (read: ReadConfig) => Promise<void>,
): void {
  if (follow === undefined) return;
  const { file, text, read } = follow;
  let turn: Promise<void> = Promise.resolve();
  const reload = (next: string): void => {
    turn = turn.then(async () => {
      if (signal.aborted) return;
      try {
        await take(await read(next));
      } catch (cause) {
        log.error('the changed file is not used, the previous configuration stays', { cause: explainCause(cause) });
      }
    });
  };
  watchText(file, text, reload, signal);
  const onHangup = (): void => {
    readConfigText(file).then(reload, (cause) => log.error('the file cannot be read', { cause: explainCause(cause) }));
  };
  process.on('SIGHUP', onHangup);
  signal.addEventListener('abort', () => process.off('SIGHUP', onHangup), { once: true });
}
