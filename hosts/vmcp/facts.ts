import type { FileFacts } from '@toolmgr/core';
import { chosenTypes } from './choices.ts';
import type { VmcpConfig } from './config-schema.ts';
import { hasKey, type Section, valueAt } from './sections.ts';

/**
 * Facts that sections of a file share.
 *
 * Shape: `isSound` says whether a section has no problems. An unsound section adds no facts, unless only its `type` counts.
 */
export function factsOf(
  config: VmcpConfig,
  sections: readonly Section[],
  isSound: (section: Section) => boolean = () => true,
): FileFacts {
  const { name, groupRef, metadata, plugins = [] } = config;
  const given = sections.flatMap((section) => {
    if (section.facts === undefined) return [];
    if (section.choice !== undefined) {
      return chosenTypes(config, section.choice.of).has(section.choice.type) ? [section.facts(undefined)] : [];
    }
    const value = hasKey(section) ? valueAt(config, section.contractKey.split('.')) : undefined;
    return value !== undefined && isSound(section) ? [section.facts(value)] : [];
  });
  return {
    name,
    group: groupRef,
    ...(metadata === undefined ? {} : { metadata }),
    hasOwnPlugins: plugins.length > 0,
    backends: [],
    ...Object.assign({}, ...given),
    ownTools: [...sections, ...given].flatMap(({ ownTools = [] }) => ownTools),
  };
}
