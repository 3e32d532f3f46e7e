import { randomBytes } from 'node:crypto';
import type { Log, Plugin } from '@toolmgr/core';
import type { Operation, PublishEvent } from '@toolmgr/plugins/kit/operations';
import { isLoopbackHost, LOOPBACK_NAMES } from '../http/listen.ts';
import { allOperations } from './all-operations.ts';
import { endpointAddress, type ListenAddress } from './endpoints/endpoint-address.ts';
import { type OpenEndpoints, openEndpoints } from './endpoints/open-endpoints.ts';
import { endpointHomes } from './endpoints/plugin.ts';
import { engineHealth } from './engine-health.ts';
import { createEventHub } from './events/event-hub.ts';
import { watchState } from './events/watch-state.ts';
import { gatewayMemory } from './gateway-memory.ts';
import { type Access, socketAccess, tokenAccess } from './http/access.ts';
import { createApp, type ManagerApp, type OpenRoutes } from './http/create-app.ts';
import { listenOnPort, listenOnSocket } from './http/listen.ts';
import type { OperationHost } from './http/mount-operation.ts';
import { pageRoutes } from './http/page-routes.ts';
import { createPageTokens, type PageTokens } from './http/page-tokens.ts';
import { createJobs, type JobTable } from './jobs/jobs.ts';
import { createMcpEndpoint, MCP_PATH, type McpEndpoint } from './mcp/endpoint.ts';
import { type Features, openFeatures } from './open-features.ts';
import type { ManagerPlan } from './plan.ts';
import { claimState } from './server-files/discovery-file.ts';
import { openServerFolder } from './server-files/own-folder.ts';
import { openToken } from './server-files/token-file.ts';

/** How a manager is opened. */
export interface ManagerOptions extends ListenAddress {
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly log: Log;
  /** Which plugins are loaded. Default: all. */
  readonly plan?: ManagerPlan | undefined;
  /** Folder of relative paths in the plan. */
  readonly baseDir?: string | undefined;
  /** Plugins as objects; a plan uses them by their address. */
  readonly inline?: readonly Plugin[];
  /** The registry listing needs no token. Default: it needs one. */
  readonly opensRegistry?: boolean;
  /** Decides about other tokens than those of the manager, e.g. by an identity provider. */
  readonly otherCallers?: Access;
  /** Destructive tools of `/mcp/manager` run without asking a person. */
  readonly mcpWithoutConfirmation?: boolean;
  /** Bytes in flight of all its gateways together. Default: a third of the memory limit. */
  readonly memoryBudget?: number | undefined;
  /** Default: the page in the browser. */
  readonly openRoutes?: readonly OpenRoutes[];
  /** Answers that do not fit their schema become faults: for tests. */
  readonly checksAnswers?: boolean;
}

/** A manager that serves. */
export interface Manager extends AsyncDisposable {
  /** `http://host:port` or `unix:///path`. */
  readonly url: string;
  readonly token: string;
  readonly pageTokens: PageTokens;
  /** Every operation that is served. */
  readonly operations: readonly Operation[];
  /** Ends streams, cancels long work, waits for answers, removes the discovery file. Workloads run on. */
  stop(): Promise<void>;
}

/**
 * Opens the manager of a state folder and serves it.
 * @throws UsageError when another manager runs or a file is not safe; GatewayFault LISTEN_FAILED
 */
export async function openManager(options: ManagerOptions): Promise<Manager> {
  const { state, env, version, log, listen } = options;
  await openServerFolder(state);
  const claim = await claimState(state);
  const stopping = new AbortController();
  let loaded: Features | undefined;
  try {
    const token = await openToken(state);
    const pageTokens = createPageTokens(token);
    const hub = createEventHub(randomBytes(4).toString('hex'));
    const watch = await watchState({
      state,
      log,
      publish: hub.publish,
      hasReaders: () => hub.readers > 0,
      signal: stopping.signal,
    });
    const publish: PublishEvent = (event) => {
      watch.note(event);
      hub.publish(event);
    };
    const jobs = createJobs(publish, log);
    const onSocket = 'socket' in listen;
    const address = endpointAddress(options);
    const needsNoToken = onSocket || isLoopbackHost(listen.host);
    const memory = gatewayMemory(log, options.memoryBudget);
    const groups = openEndpoints({ stateDir: state, log, address, memory, needsNoToken });
    const { plan, baseDir, inline, opensRegistry = false } = options;
    const { signal } = stopping;
    const features = await openFeatures({
      ...{ state, env, version, log, signal, plan, baseDir, inline },
      fill: (core) => core.slot(endpointHomes).register('manager', groups),
    });
    loaded = features;
    await features.start();
    const parts = { version, jobs, hub, pageTokens, opensRegistry };
    const described = allOperations(features.operations, parts);
    const nonce = randomBytes(16).toString('hex');
    const access = onSocket ? socketAccess : tokenAccess(token, pageTokens.isPageToken, options.otherCallers);
    const host: OperationHost = {
      jobs,
      publish,
      log,
      signal,
      ...(options.checksAnswers === undefined ? {} : { checksAnswers: options.checksAnswers }),
    };
    const mcp = createMcpEndpoint({
      operations: described.operations,
      access,
      host,
      address,
      memory,
      withoutConfirmation: options.mcpWithoutConfirmation ?? false,
    });
    const app = await createApp({
      ...described,
      access,
      host,
      rawGuard: { loopback: false, ...address },
      rawRoutes: [{ path: MCP_PATH, handle: mcp.handle }, ...groups.routes],
      version,
      nonce,
      health: engineHealth(env),
      openRoutes: options.openRoutes ?? (onSocket ? [] : [pageRoutes(features.views)]),
      ...hostNames(options),
    });
    const url = onSocket ? await listenOnSocket(app, listen.socket) : await listenOnPort(app, listen);
    await claim.announce({ url, pid: process.pid, nonce, started_at: new Date().toISOString() });
    const following = features.work({ signal, publish });
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopped ??= stopAll({
        app,
        jobs,
        mcp,
        groups,
        features,
        closeStreams: hub.close,
        stopping,
        following,
        release: claim.release,
      });
      return stopped;
    };
    return { url, token, pageTokens, operations: described.operations, stop, [Symbol.asyncDispose]: stop };
  } catch (cause) {
    stopping.abort();
    await loaded?.stop();
    await claim.release();
    throw cause;
  }
}

function hostNames({ listen, allowedHosts = [] }: ManagerOptions) {
  if ('socket' in listen) return {};
  return { allowedHosts: [...LOOPBACK_NAMES, ...allowedHosts], allowsAddresses: !isLoopbackHost(listen.host) };
}

interface Opened {
  readonly app: ManagerApp;
  readonly jobs: JobTable;
  readonly mcp: McpEndpoint;
  readonly groups: OpenEndpoints;
  readonly features: Features;
  readonly stopping: AbortController;
  readonly following: Promise<void>;
  closeStreams(): void;
  release(): Promise<void>;
}

async function stopAll({ app, jobs, mcp, groups, features, ...rest }: Opened): Promise<void> {
  const { closeStreams, stopping, following, release } = rest;
  stopping.abort();
  closeStreams();
  await Promise.all([jobs.stop(), mcp.stop(), groups[Symbol.asyncDispose](), following]);
  await closeConnections(app);
  await features.stop();
  await release();
}

/** A connection becomes idle when its response ends, and would be kept for the keep-alive time. */
async function closeConnections(app: ManagerApp): Promise<void> {
  const reap = setInterval(() => app.server.closeIdleConnections(), REAP_MS);
  const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
  try {
    await app.close();
  } finally {
    clearInterval(reap);
    clearTimeout(cut);
  }
}

const REAP_MS = 20;
const CLOSE_GRACE_MS = 5_000; // for answers in flight
