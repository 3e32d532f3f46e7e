import { type SecretSource, untilAborted } from '@toolmgr/core';
import { defaultPageRoutes } from '../../http/default-page.ts';
import { gatewayPageRoutes } from '../../http/gateway-page.ts';
import type { GatewaySwitch } from '../../http/gateway-switch.ts';
import { isLoopbackHost, LOOPBACK_NAMES, refuseTakenPort, serveGateway } from '../../http/listen.ts';
import type { PageAccess } from '../../http/page-access.ts';
import type { CallFeed } from '../../http/recent-calls/feed.ts';
import { exitSoon } from '../../shared/exit-soon.ts';
import type { GatewayLog } from '../../shared/gateway-log/index.ts';
import { showStarts } from '../../shared/gateway-log/show-starts.ts';
import { serveControl } from '../../shared/running/serve-control.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { stderr } from '../../shared/terminal.ts';
import { isPod } from '../cluster/is-pod.ts';
import { factsOf } from '../facts.ts';
import type { ReadConfig } from '../read-config.ts';
import { clientUrl } from './client-url.ts';
import { type ConfigSource, fileOf, followFile } from './config-source.ts';
import { exposureWarnings } from './exposure-warnings.ts';
import { type HostRoutes, hostRoutes, type Serving } from './host-routes.ts';
import { logBackends } from './log-backends.ts';
import { type OpenGateway, switchTo } from './open-gateway.ts';
import { levelOf, type ServeOptions, statusPagesOf } from './options.ts';
import { checkStatusPages, createStatusPages, type StatusPages } from './status-pages.ts';

/** What is served over HTTP. */
export interface HttpParts {
  readonly options: ServeOptions;
  readonly source: ConfigSource;
  readonly open: OpenGateway;
  readonly gatewayLog: GatewayLog;
  /** Where the token of the status pages is read. */
  readonly secrets: SecretSource;
  /** The calls for the page of the browser; `undefined` without the page. */
  readonly feed: CallFeed | undefined;
}

/**
 * Serves a source over HTTP until SIGINT or SIGTERM.
 * @throws GatewayFault PLAN_INVALID, SECRET_MISSING or LISTEN_FAILED, before anything is served
 */
export async function serveOverHttp(parts: HttpParts): Promise<void> {
  const { options, source, open, gatewayLog, secrets, feed } = parts;
  const { log } = gatewayLog;
  await refuseTakenPort(options);
  await checkStatusPages(statusPagesOf(options, source.config), secrets);
  for (const warning of exposureWarnings(options, source)) stderr.line(`${stderr.yellow('warning')} ${warning}`);
  using stop = stopSignal(['SIGINT', 'SIGTERM']);
  const { signal } = stop;
  const pod = isPod(source.config) ? (await import('../cluster/pod.ts')).podOf(source.config, process.env) : undefined;
  const { gateway, plan } = await open(source);
  const { limits, endpoint } = plan;
  await using gatewaySwitch = switchTo(gateway, log);
  const now: Now = { config: source.config, sections: source.sections, plan, isPod: pod !== undefined };
  const mcpPath = endpoint.path;
  const isGuarded = (): boolean => statusPages.access() !== undefined;
  const isOpen = (): boolean =>
    isLoopbackHost(options.host) && !isGuarded() && factsOf(now.config, now.sections).callers === 'anonymous';
  const routesFor = (access: () => PageAccess | undefined): HostRoutes => {
    const routes = hostRoutes(gatewaySwitch, now, access, isGuarded);
    if (feed === undefined) return routes;
    const page = gatewayPageRoutes({ gateway: () => gatewaySwitch.current, feed, mcpPath, access });
    return { ...routes, pages: [...routes.pages, ...page] };
  };
  await using statusPages = createStatusPages({ pages: (access) => routesFor(access).pages, limits, secrets });
  (await statusPages.prepare(statusPagesOf(options, source.config))).take();
  const atMain = routesFor(statusPages.access);
  const isDefaultPage = feed === undefined;
  const defaultPage = defaultPageRoutes({ gateway: () => gatewaySwitch.current, mcpPath, isOpen });
  await using served = await serveGateway(gatewaySwitch, {
    host: options.host,
    port: options.port,
    routes: [...atMain.open, ...atMain.pages, ...(isDefaultPage ? defaultPage : [])],
    ...(isLoopbackHost(options.host) ? { allowedHosts: LOOPBACK_NAMES } : {}),
    limits,
  });
  // The file of a pod is changed by a rollout: a running pod keeps the configuration that it reports.
  // Before the line that says that it serves: SIGHUP would end a process that does not listen to it yet.
  if (pod === undefined) {
    followFile(source, signal, log, (read) => reload({ ...parts, gatewaySwitch, statusPages, now }, read));
  }
  const url = `${served.url}${mcpPath}`;
  const hasPage = mcpPath !== '/' && (isDefaultPage ? isOpen() : !isGuarded());
  printAddresses(source, url, hasPage ? `${served.url}/` : undefined);
  if (isGuarded()) stderr.line(`toolmgr: ${statusPages.describe()}`);
  void logBackends(gateway, log);
  showStarts({ gateway: () => gatewaySwitch.current, gatewayLog, say: (line) => log.info(line), signal });
  // other commands reach a pod through its cluster
  await using _control =
    pod === undefined
      ? await serveControl({
          ...{ gateway: () => gatewaySwitch.current, log, lines: gatewayLog, signal },
          about: { kind: 'vmcp serve', name: now.config.name, url, ...fileOf(source) },
        })
      : undefined;
  const reporting = pod?.report(() => gatewaySwitch.current, log, signal);
  pod?.ignoreHangup(log, signal);
  await untilAborted(signal);
  stderr.line('toolmgr: stopping');
  gatewaySwitch.announceStop();
  if (pod !== undefined) {
    await pod.drain(gatewaySwitch.current, served);
    void served.close(limits.stopMs + CLOSE_MS);
  }
  // The listener stays open until the calls have ended: /readyz reports the stop, and new requests are refused with a reason.
  await gatewaySwitch.stop();
  await Promise.all([served.close(), reporting]);
  gatewayLog.close(); // its counts come before the last line
  stderr.line('toolmgr: stopped');
  exitSoon();
}

/** Prints the URL of the endpoint, that of the page if there is one, and the one that clients use. */
function printAddresses({ config, sections }: ConfigSource, url: string, page: string | undefined): void {
  stderr.line(`toolmgr: ${config.name} serves ${url} (Ctrl-C stops)`);
  if (page !== undefined) stderr.line(`toolmgr: the page is at ${page}`);
  const forClients = clientUrl(factsOf(config, sections), url);
  if (forClients !== undefined) stderr.line(`toolmgr: clients use ${forClients}, for which tokens are issued`);
}

/** What is served now; a reload replaces it. */
type Now = { -readonly [Member in keyof Serving]: Serving[Member] };

/** What a reload changes. */
interface Running extends HttpParts {
  readonly gatewaySwitch: GatewaySwitch;
  readonly statusPages: StatusPages;
  readonly now: Now;
}

/** Serves a changed file. @throws GatewayFault when it cannot be served; then everything stays as it was */
async function reload(running: Running, read: ReadConfig): Promise<void> {
  const { options, source, open, gatewayLog, gatewaySwitch, statusPages, now } = running;
  const { log } = gatewayLog;
  const { config, sections, warnings } = read;
  const pages = await statusPages.prepare(statusPagesOf(options, config));
  const next = await open(read, gatewaySwitch.current).catch(async (cause) => {
    await pages.discard();
    throw cause;
  });
  gatewayLog.setLevel(levelOf(options, config));
  for (const warning of [...warnings, ...exposureWarnings(options, read)]) log.warn(warning);
  Object.assign(now, { config, sections, plan: next.plan });
  const before = statusPages.describe();
  pages.take();
  const describe = statusPages.describe() ?? 'the status pages are public at the port of the endpoint';
  if (statusPages.describe() !== before) log.info(describe);
  gatewaySwitch.exchange(next.gateway);
  log.info('configuration reloaded', { file: source.follow?.file ?? '' });
  void logBackends(next.gateway, log);
}

const CLOSE_MS = 2_000; // for responses of a pod, after the time that its calls have
