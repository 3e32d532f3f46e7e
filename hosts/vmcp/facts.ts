import type { FileFacts } from '@toolmgr/core';
import type { VmcpConfig } from './config-schema.ts';
import { hasKey, isIn, type Section, valueAt } from './sections.ts';

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
    if (choice?.callers !== undefined && isIn(config, section)) return [{ callers: choice.callers }];
    if (choice !== undefined || section.facts === undefined || !hasKey(section) || !isSound(section)) return [];
    const value = valueAt(config, section.contractKey.split('.'));
    return value === undefined ? [] : [section.facts(value)];
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
