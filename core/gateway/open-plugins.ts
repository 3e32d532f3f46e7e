import { explainCause, GatewayFault } from '../errors.ts';
import { createExtensionPoints } from '../extension/extension-points.ts';
import { createHooks, type Hooks } from '../extension/hooks.ts';
import type { Core, Log } from '../extension/plugin.ts';
import { createSlots } from '../extension/slots.ts';
import { applyPlugins } from './apply-plugins.ts';
import type { PluginPlaces } from './find-plugin.ts';
import { loadPlugins } from './load-plugins.ts';
import type { Plan } from './plan.ts';

/** How {@link openPlugins} loads plugins. */
export interface PluginHost extends PluginPlaces {
  /** For messages: `the manager`. */
  readonly title: string;
  readonly server: Core['server'];
  readonly log: Log;
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
  { title, server, log, fill, ...places }: PluginHost,
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
    ...{ hooks, slots, slot, hook, log, server, now: Date.now },
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
