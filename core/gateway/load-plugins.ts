import { GatewayFault } from '../errors.ts';
import { explainIssues } from '../extension/explain-issues.ts';
import type { Plugin } from '../extension/plugin.ts';
import { findPlugin, type PluginPlaces } from './find-plugin.ts';
import type { Plan } from './plan.ts';

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
