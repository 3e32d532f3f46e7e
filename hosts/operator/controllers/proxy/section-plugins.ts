import type { PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import type { VmcpConfig } from '../../../vmcp/config-schema.ts';
import { factsOf } from '../../../vmcp/facts.ts';
import { hasKey, isIn, sectionsOf, valueAt } from '../../../vmcp/sections.ts';
import type { Section } from '../../resolve/context.ts';

/** The plugins that read sections of a vmcp file, in the order of the file, with the sections as settings. */
export async function sectionPlugins(file: Section): Promise<PlanInput['plugins']> {
  const sections = (await sectionsOf(catalogue, (each) => isIn(file, each))).filter((each) => isIn(file, each));
  const facts = factsOf(file as unknown as VmcpConfig, sections);
  const uses = sections.filter(hasKey).flatMap(({ address, contractKey, fromContract }) => {
    const path = contractKey.split('.');
    const section = valueAt(file, path) as Section;
    const { type: _, ...settings } = section; // it has chosen the plugin
    const isOff = fromContract !== undefined && fromContract(section, facts, address).plugins === undefined;
    return isOff ? [] : [{ place: Object.keys(file).indexOf(path[0] ?? ''), use: { use: address, with: settings } }];
  });
  return uses.sort((a, b) => a.place - b.place).map(({ use }) => use);
}
