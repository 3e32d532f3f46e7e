import { present, untilAborted } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { isLoopbackHost } from '../http/listen.ts';
import { releaseStartMemory } from '../shared/engine.ts';
import { createGatewayLog, type LogFormat } from '../shared/gateway-log/index.ts';
import { logUnhandledRejections } from '../shared/log-unhandled-rejections.ts';
import { missingProductFeatures } from '../shared/product-features.ts';
import { stopSignal } from '../shared/stop-signal.ts';
import { stderr } from '../shared/terminal.ts';
import { UsageError } from '../shared/usage-error.ts';
import { VERSION } from '../shared/version.ts';
import { metadataRoutes } from './http/metadata-routes.ts';
import { readManagerSetup } from './manager-config.ts';
import { MCP_PATH } from './mcp/endpoint.ts';
import { CLIENT_SECRET_VARIABLE, type OidcFlags, oidcAccess, openOidcCallers } from './oidc-access.ts';
import { type Manager, openManager } from './open-manager.ts';
import { openRunningPage, pageLink, showPage } from './open-page.ts';
import { tokenPath } from './server-files/token-file.ts';

/** Flags of `toolmgr serve`. */
export interface ServeFlags extends OidcFlags {
  readonly config?: string;
  readonly host: string;
  readonly port: number;
  readonly socket?: string;
  readonly allowHost?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly open?: boolean;
  readonly openRegistry?: boolean;
  readonly mcpWithoutConfirmation?: boolean;
  readonly memoryBudget?: number;
  readonly debug?: boolean;
  readonly logFormat?: LogFormat;
}

/**
 * Serves the manager until a signal stops it. Workloads run on afterwards.
 * @throws UsageError and GatewayFault with a message for the user, before anything is served
 */
export async function serve(flags: ServeFlags): Promise<void> {
  using gatewayLog = createGatewayLog({ level: flags.debug ? 'debug' : 'info', format: flags.logFormat });
  const { log } = gatewayLog;
  using _ = logUnhandledRejections(log);
  if (flags.open && flags.socket !== undefined)
    throw new UsageError('--open needs a port: no browser opens a unix socket');
  using stop = stopSignal();
  const state = stateDir(process.env);
  if (flags.open && (await openRunningPage(state))) return;
  const setup = await readManagerSetup(flags.config, process.env);
  await using oidc = await openOidcCallers(flags, process.env, log);
  delete process.env[CLIENT_SECRET_VARIABLE]; // proxies and other programs get the environment
  if (oidc !== undefined && flags.socket !== undefined)
    throw new UsageError('--socket needs no token: remove --oidc-*');
  await using manager = await openManager({
    state,
    env: process.env,
    version: VERSION,
    log,
    listen: flags.socket === undefined ? { host: flags.host, port: flags.port } : { socket: flags.socket },
    mcpWithoutConfirmation: flags.mcpWithoutConfirmation ?? false,
    memoryBudget: flags.memoryBudget,
    ...setup,
    ...(flags.openRegistry === true ? { opensRegistry: true } : {}),
    ...(oidc === undefined
      ? {}
      : { otherCallers: oidcAccess(oidc), openRoutes: [metadataRoutes(oidc.metadata(MCP_PATH))] }),
    ...present({ allowedOrigins: flags.allowedOrigins, allowedHosts: flags.allowHost }),
  });
  await announce(manager, state, flags);
  releaseStartMemory();
  await untilAborted(stop.signal);
}

/** Optional packages of features that the manager has. */
const USED_HERE = new Set(['dockerode', 'tar-stream', 'isomorphic-git', '@sigstore/verify', '@napi-rs/keyring']);

async function announce(
  { url, pageTokens }: Manager,
  state: string,
  { host, socket, open }: ServeFlags,
): Promise<void> {
  stderr.line(`toolmgr: the workload manager serves ${url} (Ctrl-C stops it; workloads run on)`);
  for (const { feature, missing, command } of missingProductFeatures()) {
    if (!missing.some((name) => USED_HERE.has(name))) continue;
    stderr.line(`toolmgr: without ${feature}: ${missing.join(', ')} not installed; install: ${command}`);
  }
  if (socket !== undefined) return;
  if (!isLoopbackHost(host)) {
    stderr.line(
      `${stderr.yellow('warning')} ${host} is reachable by other machines, and the token is sent without encryption: everyone who has it may run programs as you`,
    );
  }
  stderr.line(`toolmgr: the token is in ${tokenPath(state)}`);
  const { code } = pageTokens.newCode();
  if (open) return showPage(url, code);
  stderr.line(`toolmgr: the page, once within 5 minutes: ${pageLink(url, code)}`);
}
