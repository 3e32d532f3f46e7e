import type { IncomingMessage, ServerResponse } from 'node:http';
import { explainCause, type Gateway, type Log } from '@toolmgr/core';
import { type Problem, problem, problemBody } from '@toolmgr/plugins/kit/operations';
import { groupName, readWorkload, readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { type EndpointView, endpointView } from '../../http/endpoint-view.ts';
import type { CallFeed } from '../../http/recent-calls/feed.ts';
import { httpClientFrom } from '../../shared/http-client.ts';
import { groupsOf } from '../../workloads/planning/groups.ts';
import type { GatewayMemory } from '../gateway-memory.ts';
import { type EndpointAddress, ORIGIN_OPTION } from './endpoint-address.ts';
import { type EndpointTarget, endpointPath, endpointPlan } from './plan.ts';

/**
 * The MCP endpoints of the manager: `/mcp/groups/{group}` serves the running workloads of a group behind one endpoint, and
 * `/mcp/workloads/{name}` one workload. A gateway is made at the first request and stopped when nothing used it for a while.
 */
export interface Endpoints extends AsyncDisposable {
  /** Whether a path is one of an endpoint. */
  owns(path: string): boolean;
  /** Answers a request for which `owns` is true. The host has checked the caller; the gateway checks Host and Origin. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** What clients of an endpoint see, or `undefined` when there is no such group or workload. */
  view(kind: EndpointTarget['kind'], name: string): Promise<EndpointView | undefined>;
}

/** What {@link createEndpoints} needs. */
export interface EndpointsOptions {
  readonly stateDir: string;
  readonly log: Log;
  readonly feed: CallFeed;
  readonly address: EndpointAddress;
  readonly memory: GatewayMemory;
}

interface Open {
  readonly gateway: Promise<Gateway>;
  usedMs: number;
}

/** Gateways at once; the one that was not used for longest is stopped for a new one. */
const MAX_GATEWAYS = 32;
const IDLE_MS = 10 * 60_000;
const SWEEP_MS = 60_000;
const PATH = /^\/mcp\/(groups|workloads)\/([^/?#]{1,100})$/;

/** Creates the endpoints; nothing runs before the first request. */
export function createEndpoints(options: EndpointsOptions): Endpoints {
  const open = new Map<string, Open>();
  const close = async (key: string): Promise<void> => {
    const one = open.get(key);
    open.delete(key);
    await one?.gateway.then((gateway) => gateway.stop()).catch(() => {});
  };
  const sweep = async (): Promise<void> => {
    for (const [key, { gateway, usedMs }] of open) {
      if (performance.now() - usedMs < IDLE_MS) continue;
      const {
        sessions = 0,
        streams = 0,
        callsInFlight = 0,
      } = await gateway.then((one) => one.counts()).catch(() => ({}) as Partial<ReturnType<Gateway['counts']>>);
      if (sessions + streams + callsInFlight === 0) await close(key);
    }
  };
  const timer = setInterval(() => void sweep(), SWEEP_MS);
  timer.unref();
  const openFor = (target: EndpointTarget): Promise<Gateway> => {
    const gateway = openGateway(target, options);
    const key = endpointPath(target);
    open.set(key, { gateway, usedMs: performance.now() });
    gateway.catch(() => open.delete(key));
    const [oldest] = open.keys();
    if (open.size > MAX_GATEWAYS && oldest !== undefined) void close(oldest);
    return gateway;
  };
  const gatewayAt = async (path: string): Promise<Gateway | undefined> => {
    const found = open.get(path);
    if (found === undefined) {
      const target = await targetOf(options.stateDir, path);
      return target === undefined ? undefined : (open.get(path)?.gateway ?? openFor(target));
    }
    found.usedMs = performance.now();
    open.delete(path); // the last entry is the one that was used last
    open.set(path, found);
    return found.gateway;
  };
  return {
    owns: (path) => PATH.test(path),
    async handle(request, response) {
      try {
        const gateway = await gatewayAt((request.url ?? '').replace(/[?#].*$/s, ''));
        if (gateway === undefined) sendUnknown(response);
        else gateway.handle(request, response);
      } catch (cause) {
        options.log.error('an endpoint cannot be opened', { path: request.url ?? '', cause: explainCause(cause) });
        sendProblem(
          response,
          problem('internal_error', 'the endpoint cannot be opened; the log of the manager has the reason'),
        );
      }
    },
    async view(kind, name) {
      const path = endpointPath({ kind, name });
      const gateway = PATH.test(path) ? await gatewayAt(path) : undefined;
      await gateway?.settled();
      return gateway === undefined ? undefined : { ...endpointView(gateway, path), name };
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.all([...open.keys()].map(close));
    },
  };
}

async function openGateway(
  target: EndpointTarget,
  { stateDir, log, feed, address, memory }: EndpointsOptions,
): Promise<Gateway> {
  // loaded at the first request: an idle manager does without
  const [{ createGateway }, { catalogue }, { recentCallsPlugin }] = await Promise.all([
    import('@toolmgr/core'),
    import('@toolmgr/plugins'),
    import('../../http/recent-calls/plugin.ts'),
  ]);
  const plan = { ...httpClientFrom(process.env), ...endpointPlan(target, { stateDir, address }) };
  return createGateway(plan, {
    catalogue,
    log,
    memory: await memory(),
    originOption: ORIGIN_OPTION,
    plugins: [recentCallsPlugin(feed)],
  });
}

/** The group or workload of a path; `undefined` when there is none. */
async function targetOf(stateDir: string, path: string): Promise<EndpointTarget | undefined> {
  const [, kind, part = ''] = PATH.exec(path) ?? [];
  const name = part.replaceAll('%20', ' ');
  if (!groupName.safeParse(name).success) return undefined;
  if (kind === 'workloads') return (await readWorkload(stateDir, name)) && { kind, name };
  const groups = await groupsOf(stateDir, await readWorkloads(stateDir));
  return groups.some((group) => group.name === name) ? { kind: 'groups', name } : undefined;
}

function sendUnknown(response: ServerResponse): void {
  const detail = 'there is no such group or workload; MCP endpoints are /mcp/groups/NAME and /mcp/workloads/NAME';
  sendProblem(response, problem('not_found', detail));
}

function sendProblem(response: ServerResponse, refused: Problem): void {
  const body = problemBody(refused);
  response.writeHead(body.status, { 'content-type': 'application/problem+json', 'x-content-type-options': 'nosniff' });
  response.end(JSON.stringify(body));
}
