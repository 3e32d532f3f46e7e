import { prepareAuthorizers } from '../backend/authorizers.ts';
import type { Spawn } from '../backend/create-manager.ts';
import { explainCause, faultFrom, GatewayFault } from '../errors.ts';
import { createHooks, type Hooks } from '../extension/hooks.ts';
import { stderrLog } from '../extension/log.ts';
import type { Core, Log, Plugin } from '../extension/plugin.ts';
import { createSlots } from '../extension/slots.ts';
import { chooseClient } from '../http1/choose-client.ts';
import type { Performing } from '../pipeline/perform-inner.ts';
import type { Catalogue } from './find-plugin.ts';
import type { Gateway } from './gateway.ts';
import { type Loaded, loadPlugins } from './load-plugins.ts';
import { type PlanInput, readPlan } from './plan.ts';
import { type BackendsBehind, createPluginBackends } from './plugin-backends.ts';
import { handoverStateOf } from './reload-handover.ts';
import { createEndpointSettings } from './routes-adapter.ts';
import { wireGateway } from './wire-gateway.ts';

/** What a host or an embedder hands over besides the plan. */
export interface GatewayOptions {
  /** Addresses that a plan may use; `@toolmgr/plugins` exports one. */
  readonly catalogue?: Catalogue;
  /** Plugins given as objects; a plan uses them by their address. */
  readonly plugins?: readonly Plugin[];
  /** Where `./custom-plugin.ts` in a plan is looked for; default: the working directory. */
  readonly baseDir?: string;
  readonly log?: Log;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /**
   * The gateway whose place this one takes once it has started: requests, client sessions and event streams are its own
   * from then on, and backends that are described as before go on as they are. The other one ends the calls that it
   * began, and is to be stopped when it is `drained`. When this one cannot be made, the other goes on as if nothing had been.
   */
  readonly successorOf?: Gateway;
  /** Starts the program of a stdio backend; a test replaces it. */
  readonly spawn?: Spawn;
}

/**
 * Plan in, gateway out: read, load, apply, check, prepare, seal, start.
 *
 * Backends are opened in the background; `gateway.settled()` says when they have answered. When a step fails, what was
 * started is stopped again in reverse order.
 * @throws GatewayFault PLAN_*, PLUGIN_*, SLOT_*, AUTH_STRATEGY_INVALID, SECRET_MISSING; a successor also CATALOG_CONFLICT
 */
export async function createGateway(input: PlanInput, options: GatewayOptions = {}): Promise<Gateway> {
  const plan = readPlan(input);
  const log = options.log ?? stderrLog();
  const now = options.now ?? Date.now;
  const hooks = createHooks((fault) => log.error('a plugin failed to listen', { cause: explainCause(fault) }));
  const slots = createSlots();
  let performing: Performing | undefined;
  let behind: BackendsBehind | undefined;
  const endpoint = createEndpointSettings(plan.endpoint.path);
  const core: Core = {
    hooks,
    slots,
    now,
    log,
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
  const { catalogue = {}, plugins = [], baseDir = process.cwd() } = options;
  const loaded = await loadPlugins(plan, { catalogue, inline: plugins, baseDir });
  applyAll(core, loaded);
  requireAuthentication(hooks, log);
  const authorizers = await prepareAuthorizers(plan, slots);
  const httpClient = await chooseClient(plan.httpClient);
  const joined = wireGateway({
    plan,
    hooks,
    slots,
    log,
    now,
    authorizers,
    httpClient,
    endpointSettings: endpoint.options(),
    foreign: new Set(loaded.flatMap(({ use, isForeign }) => (isForeign ? [use] : []))),
    ...(options.spawn === undefined ? {} : { spawn: options.spawn }),
    before: options.successorOf && handoverStateOf(options.successorOf),
  });
  performing = joined.performing;
  behind = joined.backends;
  try {
    await hooks.starting.promise();
    await joined.open();
    if (options.successorOf !== undefined) {
      await joined.gateway.settled(); // with all lists: nobody waits, none seem lost
      joined.gateway.catalog(); // one that cannot be made would answer no list: the gateway before stays
    }
    joined.takeOver();
  } catch (cause) {
    await joined.gateway.stop();
    throw cause;
  }
  return joined.gateway;
}

function applyAll(core: Core, loaded: readonly Loaded[]): void {
  for (const { plugin, config } of loaded) {
    try {
      plugin.apply(core, config);
    } catch (cause) {
      throw faultFrom(cause, 'PLUGIN_FAILED', `${plugin.address} could not be applied`);
    }
  }
}

/** Never open by omission: somebody must say who callers are, even if the answer is "anybody". */
function requireAuthentication(hooks: Hooks, log: Log): void {
  const taps = hooks.authenticate.tapNames();
  if (taps.length > 1 && taps.includes('incoming-auth/anonymous')) {
    const others = taps.filter((name) => name !== 'incoming-auth/anonymous');
    log.warn('incoming-auth/anonymous lets in whoever the other plugins have no opinion about', { others });
  }
  if (taps.length > 0) return;
  throw new GatewayFault(
    'PLAN_INCOMPLETE',
    'plugins: none of them authenticates callers; add incoming-auth/anonymous to let everybody in',
  );
}

function tooEarly(): GatewayFault {
  return new GatewayFault('PLAN_INCOMPLETE', 'a tool was called or asked for before the gateway was assembled');
}
