import type { Environment } from '../contract/environment.ts';
import { explainCause, faultFrom, GatewayFault } from '../errors.ts';
import { explainIssues } from '../extension/explain-issues.ts';
import { createExtensionPoints } from '../extension/extension-points.ts';
import { createHooks, type Hooks } from '../extension/hooks.ts';
import type { Core, Log, Plugin } from '../extension/plugin.ts';
import { createSlots } from '../extension/slots.ts';
import { isPromise } from '../timing/is-promise.ts';
import { findPlugin, type PluginPlaces, placeOf } from './find-plugin.ts';
import type { Plan } from './plan.ts';

/** How {@link openPlugins} loads plugins. */
export interface PluginHost extends PluginPlaces {
  /** For messages: `the manager`. */
  readonly title: string;
  readonly server: Core['server'];
  readonly log: Log;
  /** The environment that the plugins read. */
  readonly environment: Environment;
  /** Fills slots of the host before the plugins are applied. */
  readonly fill?: (core: Core) => void;
}

/** Applied plugins of a host that is no gateway. */
export interface OpenedPlugins {
  readonly core: Core;
  /** Addresses in the order of the plan. */
  readonly addresses: readonly string[];
  /** Runs the hook `starting`. */
  start(): Promise<void>;
  /** Runs the hook `stopping`. */
  stop(): Promise<void>;
}

/**
 * Loads and applies plugins for a host that serves no MCP endpoint of its own: they fill slots, and may tap `starting` and `stopping`.
 * @throws GatewayFault PLUGIN_*, PLAN_INVALID, SLOT_TAKEN; also for a plugin that needs a gateway
 */
export async function openPlugins(
  plugins: Plan['plugins'],
  { title, server, log, environment, fill, ...places }: PluginHost,
): Promise<OpenedPlugins> {
  const report = (fault: GatewayFault): void =>
    log.error('a listener of a plugin failed', { cause: explainCause(fault) });
  const hooks = createHooks(report);
  const slots = createSlots();
  const { slot, hook } = createExtensionPoints({ hooks, slots }, report);
  const missing = (member: string) => (): never => {
    throw new GatewayFault('PLAN_INVALID', `${title} has no ${member}: this plugin is for gateways`);
  };
  const absent = <T extends object>(member: string): T => new Proxy({} as T, { get: missing(member) });
  const core: Core = {
    ...{ hooks, slots, slot, hook, log, server, environment, now: Date.now },
    ...{ perform: missing('calls'), toolsFor: missing('tools'), reachable: missing('tools') },
    ...{ bytesInFlight: missing('calls'), backends: absent('backends'), endpoint: absent('endpoint') },
  };
  fill?.(core);
  const loaded = await loadPlugins({ plugins }, places);
  applyPlugins(core, loaded);
  refuseOtherHooks(hooks, title);
  return {
    core,
    addresses: loaded.map(({ plugin }) => plugin.address),
    start: () => hooks.starting.promise(),
    stop: () => hooks.stopping.promise(),
  };
}

/** A tap that never runs would be a policy that is not applied. */
function refuseOtherHooks(hooks: Hooks, title: string): void {
  for (const [name, hook] of Object.entries(hooks)) {
    const [plugin] = name === 'starting' || name === 'stopping' ? [] : hook.tapNames();
    if (plugin !== undefined)
      throw new GatewayFault('PLAN_INVALID', `${title} has no hook ${name}, which ${plugin} uses`);
  }
}

/** A plugin with its parsed configuration. */
export interface LoadedPlugin {
  /** Its address in the plan; may be a path or a package name. */
  readonly use: string;
  readonly plugin: Plugin;
  readonly config: unknown;
  /** A third-party plugin, loaded from a path or a package: its behaviour is unknown. */
  readonly isForeign: boolean;
}

/**
 * Loads every plugin of a plan, in order, and parses its configuration strictly.
 * @throws GatewayFault PLUGIN_UNKNOWN, PLUGIN_INVALID, PLAN_INVALID
 */
export async function loadPlugins(plan: Pick<Plan, 'plugins'>, places: PluginPlaces): Promise<readonly LoadedPlugin[]> {
  const loaded: LoadedPlugin[] = [];
  for (const [index, { use, with: given }] of plan.plugins.entries()) {
    const where = `plugins[${index}] ${use}`;
    const plugin = await findPlugin(use, places).catch((cause: unknown) => {
      if (cause instanceof GatewayFault)
        throw new GatewayFault(cause.code, `${where}: ${cause.message}`, { cause: cause.cause });
      throw cause;
    });
    const read = plugin.config.safeParse(given ?? {});
    if (!read.success) {
      throw new GatewayFault('PLAN_INVALID', explainIssues(where, plugin.config, read.error).join('\n'));
    }
    const isForeign = !Object.hasOwn(places.catalogue, use) && places.inline?.includes(plugin) !== true;
    loaded.push({ use, plugin, config: read.data, isForeign });
  }
  return loaded;
}

/**
 * Applies plugins in their order.
 * @throws GatewayFault of the plugin, PLUGIN_FAILED, PLUGIN_INVALID
 */
export function applyPlugins(core: Core, loaded: readonly LoadedPlugin[]): void {
  for (const { plugin, config } of loaded) {
    try {
      const applied: unknown = plugin.apply(core, config);
      if (!isPromise(applied)) continue;
      applied.then(undefined, () => {});
    } catch (cause) {
      throw faultFrom(cause, 'PLUGIN_FAILED', `${plugin.address} could not be applied${placeIn(cause)}`);
    }
    throw new GatewayFault(
      'PLUGIN_INVALID',
      `${plugin.address}: apply must not be asynchronous; wait in a tapPromise of the hook starting`,
    );
  }
}

/** `, at FILE:LINE` where a plugin threw. */
function placeIn(cause: unknown): string {
  const place = cause instanceof Error ? placeOf(cause) : undefined;
  return place === undefined ? '' : `, at ${place}`;
}
