import { OWN_PLUGINS } from '../../resolve/own-plugins.ts';
import type { Resolution } from '../../resolve/resolution.ts';
import type { WantedCondition } from '../write-status.ts';
import type { PodCounts } from './pod-counts.ts';

/** What the pods say about plugins that only they load; none while no pod has the wanted configuration, or without such plugins. */
export function ownPluginsCondition(
  { conditions, outcome }: Pick<Resolution, 'conditions' | 'outcome'>,
  { current, failure }: Pick<PodCounts, 'current' | 'failure'>,
): readonly WantedCondition[] {
  if (outcome.result !== 'ready' || !conditions.some(({ type }) => type === OWN_PLUGINS)) return [];
  if (current > 0) {
    // a pod that cannot load a plugin does not become ready
    return [{ type: OWN_PLUGINS, status: 'True', reason: 'PluginsLoaded', message: 'the pods have loaded them' }];
  }
  if (failure === undefined) return [];
  return [{ type: OWN_PLUGINS, status: 'False', reason: 'PodsFailed', message: failure }];
}
