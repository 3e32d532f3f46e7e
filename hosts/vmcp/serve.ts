import { dirname, resolve } from 'node:path';
import {
  createGateway,
  explainCause,
  type Gateway,
  type Log,
  type Plan,
  readPlan,
  type ToolEntry,
} from '@toolmgr/core';
import { catalogue, environmentSecrets, readOptionalSecretFrom } from '@toolmgr/plugins';
import { createSwitch } from '../http/gateway-switch.ts';
import { isLoopbackHost, LOOPBACK_NAMES, refuseTakenPort, serveGateway } from '../http/listen.ts';
import { widenYoungGeneration } from '../shared/engine.ts';
import { logUnhandledRejections } from '../shared/log-unhandled-rejections.ts';
import { reportStarts } from '../shared/report-starts.ts';
import { aborted, stopSignal } from '../shared/stop-signal.ts';
import { stderr } from '../shared/terminal.ts';
import { UsageError } from '../shared/usage-error.ts';
import { watchText } from '../shared/watch-text.ts';
import { createAdjustableLog } from './adjustable-log.ts';
import type { VmcpConfig } from './config-schema.ts';
import { factsOf } from './facts.ts';
import { groupConfig } from './group-config.ts';
import { hostRoutes } from './host-routes.ts';
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
  readonly debug?: boolean;
}

/**
 * Serves a vmcp file or a group until a signal stops it. The file is read again on change and on SIGHUP.
 * @throws UsageError and GatewayFault with sentences for a person, before anything is served
 */
export async function serve(options: ServeOptions): Promise<void> {
  const source = await sourceOf(options);
  const log = createAdjustableLog((line) => process.stderr.write(line));
  log.setLevel(levelOf(options, source.config));
  using _ = logUnhandledRejections(log);
  const secrets = environmentSecrets(process.env);
  const stateKey = (await readOptionalSecretFrom(secrets, 'TOOLMGR_STATE_KEY'))?.reveal();
  const flags: PlanFlags = {
    loopback: isLoopbackHost(options.host),
    ...(options.enableAudit ? { switchedOn: ['audit'] } : {}),
    ...(stateKey === undefined ? {} : { stateKey }),
    ...(options.sessionTtl ? { sessionTtlMs: options.sessionTtl } : {}),
  };
  const open = async (read: SectionedConfig, before?: Gateway): Promise<{ gateway: Gateway; plan: Plan }> => {
    const input = planFromConfig(read, flags);
    const successor = before === undefined ? {} : { successorOf: before };
    const gateway = await createGateway(input, { catalogue, log, baseDir: source.baseDir, ...successor });
    return { gateway, plan: readPlan(input) };
  };
  await refuseTakenPort(options);
  await checkStatusPages(statusPagesOf(options, source.config), secrets);
  for (const warning of exposure(options, source)) stderr.line(`${stderr.yellow('warning')} ${warning}`);
  using stop = stopSignal(['SIGINT', 'SIGTERM']);
  const first = await open(source);
  await using door = createSwitch(first.gateway, (cause) =>
    log.error('a gateway did not stop in order', { cause: explainCause(cause) }),
  );
  const now = { config: source.config, sections: source.sections, plan: first.plan };
  const { limits, endpoint } = first.plan;
  const isGuarded = (): boolean => statusPages.access() !== undefined;
  await using statusPages = createStatusPages({
    pages: (access) => hostRoutes(door, now, access, isGuarded).pages,
    limits,
    secrets,
  });
  (await statusPages.prepare(statusPagesOf(options, source.config))).take();
  const atMain = hostRoutes(door, now, statusPages.access, isGuarded);
  await using served = await serveGateway(door, {
    host: options.host,
    port: options.port,
    routes: [...atMain.open, ...atMain.pages],
    ...(flags.loopback ? { allowedHosts: LOOPBACK_NAMES } : {}),
    limits,
  });
  stderr.line(`toolmgr: ${now.config.name} serves ${served.url}${endpoint.path} (Ctrl-C stops)`);
  if (isGuarded()) stderr.line(`toolmgr: ${statusPages.told()}`);
  void greetBackends(door.current, log);
  reportStarts({ gateway: () => door.current, say: (line) => log.info(line), signal: stop.signal });
  followFile(source, stop.signal, log, async (read) => {
    const { config, warnings } = read;
    const pages = await statusPages.prepare(statusPagesOf(options, config));
    const next = await open(read, door.current).catch(async (cause) => {
      await pages.drop();
      throw cause;
    });
    log.setLevel(levelOf(options, config));
    for (const warning of [...warnings, ...exposure(options, read)]) log.warn(warning);
    now.config = config;
    now.sections = read.sections;
    now.plan = next.plan;
    const before = statusPages.told();
    pages.take();
    const told = statusPages.told() ?? 'the status pages are open at the port of the endpoint';
    if (statusPages.told() !== before) log.info(told);
    door.exchange(next.gateway);
    log.info('configuration reloaded', { file: source.file ?? '' });
    void greetBackends(next.gateway, log);
  });
  await aborted(stop.signal);
  // The listener stays open until the calls have ended: /readyz says that no more should come, and who comes is told why.
  await door.stop();
  await served.close();
  // what a plugin still waits for after its time to stop, such as a collector that is away, does not hold up the end
  setTimeout(() => process.exit(), LEAVE_MS).unref();
}

const LEAVE_MS = 250;

function levelOf({ debug }: ServeOptions, { operational }: VmcpConfig): 'debug' | 'info' {
  return debug || operational?.logLevel === 'debug' ? 'debug' : 'info';
}

/** A gateway that other machines reach and that asks nobody who they are. */
function exposure(options: ServeOptions, { config, sections }: SectionedConfig): string[] {
  const { host } = options;
  const warnings: string[] = [];
  if (!isLoopbackHost(host) && factsOf(config, sections).callers === 'anonymous') {
    const way = 'type oidc asks callers for a token';
    warnings.push(`everybody who reaches ${host} may call: incomingAuth.type is anonymous; ${way}`);
  }
  const { host: pagesHost, tokenEnv } = statusPagesOf(options, config) ?? {};
  if (pagesHost !== undefined && !isLoopbackHost(pagesHost) && tokenEnv === undefined) {
    warnings.push(
      `everybody who reaches ${pagesHost} may read the status pages; statusPages.tokenEnv asks for a token`,
    );
  }
  return warnings;
}

/** What the file says of the pages, and over it what flags say. */
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
  readonly file?: string;
  readonly text?: string;
}

async function sourceOf({ config: file, group, host }: ServeOptions): Promise<ConfigSource> {
  if (file !== undefined) {
    if (group !== undefined) stderr.line(`toolmgr: the file wins, --group ${group} is not used`);
    const text = await readConfigText(file);
    const { config, sections, warnings } = await readConfig(text, file, catalogue);
    for (const warning of warnings) stderr.line(`${stderr.yellow('warning')} ${warning}`);
    return { config, sections, baseDir: dirname(resolve(file)), file, text };
  }
  if (group === undefined) throw new UsageError('give a file (-c FILE) or a group of workloads (--group NAME)');
  if (!isLoopbackHost(host)) {
    throw new UsageError(
      `--group serves everybody who can connect, so it binds to loopback only; for --host ${host} write a file: toolmgr vmcp init -g ${group} -o vmcp.yaml`,
    );
  }
  const sections = await sectionsOf(catalogue);
  return { config: groupConfig(group, group, sections), sections, baseDir: process.cwd() };
}

/** When all backends have answered or their time is over: the engine is set up for calls, and one log line per backend. */
async function greetBackends(gateway: Gateway, log: Log): Promise<void> {
  await gateway.settled();
  widenYoungGeneration();
  const tools = toolsOf(gateway);
  for (const { backend, status, era, cause, startingSinceMs } of gateway.backends()) {
    const fields = {
      backend: backend.name,
      status,
      tools: tools.filter((tool) => tool.backend === backend.name).length,
    };
    if (status === 'ready') log.info('backend ready', { ...fields, ...(era === undefined ? {} : { revision: era }) });
    else if (startingSinceMs !== undefined && cause === undefined) log.info('backend still starting', fields);
    else log.warn('backend away', { ...fields, ...(cause === undefined ? {} : { cause: cause.message }) });
  }
}

/** None while there is no catalogue, e.g. because names collide: the log has said why. */
function toolsOf(gateway: Gateway): readonly ToolEntry[] {
  try {
    return gateway.catalog().allTools();
  } catch {
    return [];
  }
}

/** Reads the file again when it changes and on SIGHUP; a wrong file changes nothing and says why. */
function followFile(
  { file, text }: ConfigSource,
  signal: AbortSignal,
  log: Log,
  take: (read: ReadConfig) => Promise<void>,
): void {
  if (file === undefined || text === undefined) return;
  let turn: Promise<void> = Promise.resolve();
  const reload = (next: string): void => {
    turn = turn.then(async () => {
      if (signal.aborted) return;
      try {
        await take(await readConfig(next, file, catalogue));
      } catch (cause) {
        log.error('the changed file is not used, the configuration before it stays', { cause: explainCause(cause) });
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
