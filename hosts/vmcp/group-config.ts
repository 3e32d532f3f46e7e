import type { RunningBackend } from '@toolmgr/core';
import { CALLERS, defaultOf } from './choices.ts';
import type { VmcpConfig } from './config-schema.ts';
import { hasKey, type Section, STRATEGIES } from './sections.ts';

/**
 * The configuration of a group where nothing else is said: no credentials, and what each section begins with.
 *
 * Shape: `running` are workloads that the file lists; without them it serves those of the group.
 */
export function groupConfig(
  name: string,
  group: string,
  sections: readonly Section[],
  running?: readonly RunningBackend[],
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
