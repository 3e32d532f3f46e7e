import { type Core, definePlugin, type Slot } from '@toolmgr/core';
import { signatureVerifiers } from '@toolmgr/plugins/kit/oci';
import {
  clientPlaces,
  operationHomes,
  operations,
  pageViews,
  type SkillLookup,
  skillHomes,
  skillLookups,
} from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { openSkills } from './install/open-skills.ts';
import { skillStoreFolder } from './oci/build-store.ts';
import { skillsOperations } from './operations.ts';

const ADDRESS = 'skills';

export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'installs agent skills into clients, builds and pushes them',
  config: z.strictObject({
    servesProjects: z
      .boolean()
      .default(true)
      .describe(
        'reads and changes folders of projects, for callers and for the commands of this user; not for a manager whose callers are on other machines',
      ),
  }),
  apply(core, { servesProjects }) {
    const { state, env } = core.slot(operationHomes).get('user');
    const { pushSettings, ...home } = core.slot(skillHomes).get('user');
    const skills = openSkills({
      ...{ state, env, ...home },
      clients: async () => (await Promise.all(allOf(core, clientPlaces).map((find) => find()))).flat(),
      signatures: async () => allOf(core, signatureVerifiers)[0]?.(),
      lookUp: lookUpInAll(() => allOf(core, skillLookups)),
    });
    core
      .slot(operations)
      .register(ADDRESS, skillsOperations({ skills, store: skillStoreFolder(env), env, pushSettings, servesProjects }));
    core.slot(pageViews).register(ADDRESS, [{ name: 'skills', title: 'Skills', order: 80 }]);
  },
});

/** What other plugins have put into a slot; read when it is used, because they may be applied later. */
function allOf<T>(core: Core, slot: Slot<T>): readonly T[] {
  const filled = core.slot(slot);
  return filled.names().map((name) => filled.get(name));
}

function lookUpInAll(lookups: () => readonly SkillLookup[]): SkillLookup {
  return async (wanted, signal) => {
    const answers = await Promise.all(lookups().map((lookUp) => lookUp(wanted, signal)));
    const refused = answers.find((answer) => 'problem' in answer);
    return refused ?? answers.flatMap((answer) => ('problem' in answer ? [] : answer));
  };
}
