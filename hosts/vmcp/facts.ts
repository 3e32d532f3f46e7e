import type { FileFacts } from '@toolmgr/core';
import type { VmcpConfig } from './config-schema.ts';
import { chosenTypes, hasKey, isIn, type Section, STRATEGIES, valueAt } from './sections.ts';

/**
 * Facts that sections of a file share.
 *
 * Shape: `isSound` says whether a section has no problems. An unsound section adds no facts; a `type` that is chosen counts.
 */
export function factsOf(
  config: VmcpConfig,
  sections: readonly Section[],
  isSound: (section: Section) => boolean = () => true,
): FileFacts {
  const { name, groupRef, metadata, plugins = [] } = config;
  const given = sections.flatMap((section): Partial<FileFacts>[] => {
    const { choice } = section;
    if (choice !== undefined && !isIn(config, section)) return [];
    const ofChoice = choice?.callers === undefined ? {} : { callers: choice.callers };
    if (section.facts === undefined || !hasKey(section) || !isSound(section)) return [ofChoice];
    const value = valueAt(config, section.contractKey.split('.'));
    return value === undefined ? [ofChoice] : [{ ...ofChoice, ...section.facts(value) }];
  });
  return {
    name,
    group: groupRef,
    ...(metadata === undefined ? {} : { metadata }),
    hasOwnPlugins: plugins.length > 0,
    plugins,
    backends: [],
    unsound: sections.filter((section) => isIn(config, section) && !isSound(section)).flatMap(keyOf),
    strategies: [...chosenTypes(config, STRATEGIES)].map(String),
    ...Object.assign({}, ...given),
    ownTools: [...sections, ...given].flatMap(({ ownTools = [] }) => ownTools),
  };
}

function keyOf({ contractKey }: Section): readonly string[] {
  return contractKey === undefined ? [] : [contractKey];
}
