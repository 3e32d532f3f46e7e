import type { SectionOverview } from '@toolmgr/core';
import { factsOf } from './facts.ts';
import type { SectionedConfig } from './plan.ts';
import { hasKey, placesOf, valueAt } from './sections.ts';

/** Summary of a file for `vmcp validate`. */
export function overviewOf({ config, sections }: SectionedConfig): readonly SectionOverview[] {
  const facts = factsOf(config, sections);
  return [
    { key: 'name', label: 'name', value: config.name },
    { key: 'group', label: 'group', value: config.groupRef },
    { key: 'incomingAuth', label: 'incoming auth', value: config.incomingAuth?.type ?? 'by a plugin' },
    { key: 'outgoingAuth', label: 'outgoing auth', value: config.outgoingAuth.source },
    ...sections.filter(hasKey).flatMap((section) => {
      const [place = []] = placesOf(section, config);
      return section.overview === undefined ? [] : [section.overview(valueAt(config, place), facts)];
    }),
  ];
}
