import { CALLERS, defaultOf } from './choices.ts';
import type { VmcpConfig } from './config-schema.ts';
import { hasKey, type Section, STRATEGIES } from './sections.ts';

/**
 * The default configuration of a group: no credentials, and the initial value of each section.
 *
 * Shape: `running` are workloads to list as backends; without it the backends are discovered from the group.
 */
export function groupConfig(
  name: string,
  group: string,
  sections: readonly Section[],
  running?: Parameters<NonNullable<Section['initial']>>[0],
): VmcpConfig {
  const initial = sections.filter(hasKey).flatMap(({ contractKey, isRequired = false, initial }) => {
    const value = initial?.(running);
    return value === undefined ? [] : [{ contractKey, isRequired, value }];
  });
  const inOrder = [
    ...initial.filter(({ isRequired }) => isRequired),
    ...initial.filter(({ isRequired }) => !isRequired),
  ];
  return {
    name,
    groupRef: group,
    incomingAuth: defaultOf(sections, CALLERS),
    outgoingAuth: { source: 'inline', default: defaultOf(sections, STRATEGIES) },
    ...Object.fromEntries(inOrder.map(({ contractKey, value }) => [contractKey, value])),
  };
}
