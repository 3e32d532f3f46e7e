import type { Catalogue } from '@toolmgr/core';
import { factsOf } from './facts.ts';
import type { ReadConfig } from './read-config.ts';
import { hasKey, type Section, sectionsOf, valueAt } from './sections.ts';

/** Summary of a file for `vmcp validate`. */
export async function overviewOf(
  { config, sections, notLoaded }: Pick<ReadConfig, 'config' | 'sections' | 'notLoaded'>,
  catalogue: Catalogue,
): Promise<readonly ReturnType<NonNullable<Section['overview']>>[]> {
  const facts = factsOf(config, sections);
  const byPlugin = notLoaded.length === 0 ? 'by a plugin' : 'not checked';
  const all = [...(await sectionsOf(catalogue)), ...sections.filter(({ own }) => own !== undefined)];
  return [
    { key: 'name', label: 'name', value: config.name },
    { key: 'group', label: 'group', value: config.groupRef },
    { key: 'incomingAuth', label: 'incoming auth', value: config.incomingAuth?.type ?? byPlugin },
    { key: 'outgoingAuth', label: 'outgoing auth', value: config.outgoingAuth.source },
    ...all.filter(hasKey).flatMap((section) => {
      const value = valueAt(config, section.contractKey.split('.'));
      return section.overview === undefined ? [] : [section.overview(value, facts)];
    }),
  ];
}
