import { isDeepStrictEqual } from 'node:util';
import { prepareAuthorizers, type WhenUnprepared } from '../backend/authorizers.ts';
import type { Spawn } from '../backend/create-manager.ts';
import type { MemoryBudget } from '../contract/bytes-in-flight.ts';
import type { Environment } from '../contract/environment.ts';
import type { ListStore } from '../contract/list-store.ts';
import { explainCause, GatewayFault } from '../errors.ts';
import { createBlockWatch } from '../extension/block-watch.ts';
import { createExtensionPoints } from '../extension/extension-points.ts';
import { createHooks, type Hooks } from '../extension/hooks.ts';
import { stderrLog } from '../extension/log.ts';
import type { Core, Log, Plugin } from '../extension/plugin.ts';
import { createSlots } from '../extension/slots.ts';
import { chooseClient } from '../http1/choose-client.ts';
import { ByteBudget } from '../mcp/byte-budget.ts';
import type { InnerCalls } from '../pipeline/perform-inner.ts';
import { createEndpointSettings } from './endpoint-settings.ts';
import type { Catalogue, ImportFile } from './find-plugin.ts';
import type { Gateway } from './gateway.ts';
import { loggedBudget } from './memory-budget.ts';
import { applyPlugins, type LoadedPlugin, loadPlugins } from './open-plugins.ts';
import { type Plan, type PlanInput, readPlan } from './plan.ts';
import { type BackendsBehind, createPluginBackends } from './plugin-backends.ts';
import { type HandoverState, handoverStateOf } from './reload-handover.ts';
import { type WiredGateway, wireGateway } from './wire-gateway.ts';

/** What a host or an embedder passes besides the plan. */
export interface GatewayOptions {
  /** Plugins by address; `@toolmgr/plugins` exports such a catalogue. */
  readonly catalogue?: Catalogue;
  /** Plugins as objects; a plan uses them by their address. */
  readonly plugins?: readonly Plugin[];
  /** Folder of relative plugin paths such as `./custom-plugin.ts`; default: the working directory. */
  readonly baseDir?: string;
  /** Imports plugins that are files or packages, by URL. Default: `import`, which loads a file once per process. */
  readonly importFile?: ImportFile | undefined;
  readonly log?: Log;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /**
   * The gateway that this one replaces once it has started. It takes over requests, client sessions and event streams,
   * and backends with an equal description. The replaced gateway finishes its own calls, and must be stopped when it is
   * `drained`. When this gateway cannot be made, the other one continues unchanged.
   */
  readonly successorOf?: Gateway;
  /**
   * Client sessions must move to this gateway: it is not made when they cannot, because a setting under which they were opened has
   * changed. For a host whose client cannot open another session, e.g. over stdio.
   */
  readonly sessionsMustMove?: boolean;
  /** How refusals name the option that adds an allowed origin. Default: `endpoint.allowedOrigins`. */
  readonly originOption?: string;
  /**
   * Keeps lists between two runs: a backend that has not answered when the first list is asked for is listed as it was last time. Lists of
   * backends with credentials of callers are never kept.
   */
  readonly listStore?: ListStore;
  /** Memory that several gateways of this process share; `limits.memoryBudgetBytes` of the plan has no effect then. */
  readonly memory?: MemoryBudget | undefined;
  /**
   * Variables that the gateway and its plugins read: proxies, folders of the user, and what programs of backends inherit. Neither reads
   * any other environment. Default: `process.env`, as for programs that Node starts; `{}` keeps a gateway apart from its process.
   */
  readonly environment?: Environment;
  /**
   * The process only serves gateways, so whatever blocks its event loop is reported. By default only taps of hooks are measured, since
   * an application may have work of its own.
   */
  readonly ownsProcess?: boolean;
  /** Starts the program of a stdio backend; tests replace it. */
  readonly spawn?: Spawn;
}

/**
 * Makes a gateway from a plan: read, load, apply, check, prepare, seal, start.
 *
 * Backends are opened in the background; `gateway.settled()` reports when they have answered. When a step fails,
 * everything that was started is stopped again in reverse order.
 * @throws GatewayFault PLAN_*, PLUGIN_*, SLOT_*, AUTH_STRATEGY_INVALID, SECRET_MISSING; at a reload also
 * CATALOG_CONFLICT
 */
export async function createGateway(input: PlanInput, options: GatewayOptions = {}): Promise<Gateway> {
  const { hooks, joined } = await assemble(input, options);
  try {
    await hooks.starting.promise();
    await joined.open();
    if (options.successorOf !== undefined) {
      await joined.gateway.settled(); // wait for the lists, so that clients neither wait nor see entries disappear
      joined.gateway.catalog(); // when it cannot be built, the previous gateway is kept
    }
    joined.takeOver();
    if (options.ownsProcess === true) joined.sampleProcess();
  } catch (cause) {
    await joined.gateway.stop();
    throw cause;
  }
  return joined.gateway;
}

/** A gateway whose plugins are applied and that has not started. */
export interface Assembled {
  readonly hooks: Hooks;
  readonly loaded: readonly LoadedPlugin[];
  readonly joined: WiredGateway;
}

/**
 * Does everything that comes before the start. The result is stopped with `joined.gateway.stop()`.
 * @param whenUnprepared gets the fault of an outgoing-auth strategy and throws it, or returns what replaces the strategy
 * @throws GatewayFault like {@link createGateway}
 */
export async function assemble(
  input: PlanInput,
  options: GatewayOptions,
  whenUnprepared?: WhenUnprepared,
): Promise<Assembled> {
  const plan = readPlan(input);
  const log = options.log ?? stderrLog();
  const { now = Date.now, environment = process.env } = options;
  const report = (fault: GatewayFault): void =>
    log.error('a listener of a plugin failed', { cause: explainCause(fault) });
  const watch = createBlockWatch({
    limitMs: plan.limits.blockedMs,
    log,
    now,
    tell: (blocked) => hooks.loopBlocked.call(blocked),
  });
  const hooks = createHooks(report, watch);
  const slots = createSlots();
  const points = createExtensionPoints({ hooks, slots }, report, watch);
  let performing: InnerCalls | undefined;
  let behind: BackendsBehind | undefined;
  const endpoint = createEndpointSettings(plan.endpoint.path);
  const before = options.successorOf && handoverStateOf(options.successorOf);
  const bytes = bytesInFlight(plan, options, before, { log, now });
  const core: Core = {
    hooks,
    slots,
    slot: points.slot,
    hook: points.hook,
    now,
    log,
    environment,
    bytesInFlight: () => bytes.now,
    backends: createPluginBackends(plan, () => behind),
    server: { name: plan.name, version: plan.version },
    perform: (asked) => (performing === undefined ? Promise.reject(tooEarly()) : performing.inner(asked)),
    endpoint: endpoint.settings,
    reachable: (call) => {
      if (performing === undefined) throw tooEarly();
      return performing.reachable(call);
    },
    toolsFor: (call) => (performing === undefined ? Promise.reject(tooEarly()) : performing.toolsFor(call)),
  };
  const { catalogue = {}, plugins = [], baseDir = process.cwd(), importFile } = options;
  const loaded = await loadPlugins(plan, { catalogue, inline: plugins, baseDir, importFile });
  applyPlugins(core, loaded);
  requireAuthentication(hooks, log);
  const authorizers = await prepareAuthorizers(plan, slots, whenUnprepared);
  const httpClient = await chooseClient(plan.httpClient);
  const joined = wireGateway({
    plan,
    hooks,
    slots,
    points,
    watch,
    log,
    now,
    environment,
    bytes,
    authorizers,
    httpClient,
    endpointSettings: endpoint.options(),
    foreign: new Map(loaded.flatMap(({ use, plugin, isForeign }) => (isForeign ? [[use, plugin]] : []))),
    ...(options.spawn === undefined ? {} : { spawn: options.spawn }),
    originOption: options.originOption,
    listStore: options.listStore,
    before,
    sessionsMustMove: options.sessionsMustMove === true,
  });
  points.seal();
  performing = joined.performing;
  behind = joined.backends;
  return { hooks, loaded, joined };
}

/** A gateway that follows another one shares its budget, which the bytes of both are counted against. */
function bytesInFlight({ limits }: Plan, { memory }: GatewayOptions, before: HandoverState | undefined, clock: Clock) {
  if (memory instanceof ByteBudget) return memory;
  if (before !== undefined && isDeepStrictEqual(before.plan.limits, limits)) return before.bytes;
  return loggedBudget(limits, clock);
}

type Clock = Parameters<typeof loggedBudget>[1];

/** Authentication must be configured, even if it accepts everybody. */
function requireAuthentication(hooks: Hooks, log: Log): void {
  const taps = hooks.authenticate.tapNames();
  if (taps.length > 1 && taps.includes('incoming-auth/anonymous')) {
    const others = taps.filter((name) => name !== 'incoming-auth/anonymous');
    log.warn('incoming-auth/anonymous accepts all requests that the other plugins do not decide', { others });
  }
  if (taps.length > 0) return;
  throw new GatewayFault(
    'PLAN_INCOMPLETE',
    'plugins: none of them authenticates callers; add incoming-auth/anonymous to accept everybody; in a vmcp file: incomingAuth: { type: anonymous }',
  );
}

function tooEarly(): GatewayFault {
  return new GatewayFault('PLAN_INCOMPLETE', 'a tool was called or listed before the gateway was assembled');
}
