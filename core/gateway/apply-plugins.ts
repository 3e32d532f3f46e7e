import { faultFrom, GatewayFault } from '../errors.ts';
import type { Core } from '../extension/plugin.ts';
import { isPromise } from '../timing/is-promise.ts';
import type { LoadedPlugin } from './load-plugins.ts';
import { placeOf } from './why-not-loaded.ts';

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
