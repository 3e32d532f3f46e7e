import { isObject } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { misspelt, similarTo } from '../../vmcp/left-plugins.ts';
import { isPluginAddress, MAX_PLUGINS, PLUGIN_RULE } from '../../vmcp/plugin-address.ts';
import type { Context, ServerSpec } from './context.ts';
import { oversize } from './spec-size.ts';

/** The condition of plugins that only pods load. */
export const OWN_PLUGINS = 'OwnPluginsLoaded';

/** Why `spec.config.plugins` is not even read; `undefined` when it may be. Values are not repeated: they may be large. */
export function pluginsProblem({ config }: ServerSpec): string | undefined {
  const uses = usesOf(config);
  if (uses.length > MAX_PLUGINS) return `spec.config.plugins: ${uses.length} entries, expected at most ${MAX_PLUGINS}`;
  const large = oversize(config?.plugins);
  if (large !== undefined) return large.replace(/^spec/, 'spec.config.plugins');
  for (const [index, use] of uses.entries()) {
    if (typeof use !== 'string') continue; // the schema of the file says it
    if (!isPluginAddress(use)) return `spec.config.plugins[${index}].use: ${PLUGIN_RULE.message}`;
    const mistake = Object.hasOwn(catalogue, use) ? undefined : misspelt(use, catalogue);
    if (mistake !== undefined) return `spec.config.plugins[${index}].use: ${mistake}`;
  }
  return undefined;
}

/**
 * Says that the operator does not load plugins that are not of the catalogue: they are code of the author of the object. Its
 * pods do, and tell the outcome.
 */
export function tellOwnPlugins({ spec, findings }: Context): void {
  const own = usesOf(spec.config).filter((use) => typeof use === 'string' && !Object.hasOwn(catalogue, use));
  if (own.length === 0) return;
  const named = own.map((use) => `${String(use)}${similarTo(String(use), catalogue)}`).join('; ');
  findings.tell(OWN_PLUGINS, 'Unknown', 'LoadedByPods', `only pods load and check these plugins: ${named}`);
}

function usesOf(config: ServerSpec['config']): readonly unknown[] {
  const plugins = config?.plugins;
  return Array.isArray(plugins) ? plugins.map((each) => (isObject(each) ? each.use : undefined)) : [];
}
