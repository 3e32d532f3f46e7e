import { changeGroup, readGroup } from '@toolmgr/plugins/kit/workloads';
import type { SkillGroups } from './change.ts';

/** The groups of a state folder. */
export function stateGroups(state: string): SkillGroups {
  return {
    async skillsOf(group) {
      return (await readGroup(state, group))?.skills;
    },
    async put(group, skill, isMember) {
      await changeGroup(state, group, ({ skills }) => {
        if (skills.includes(skill) === isMember) return undefined;
        return { skills: isMember ? [...skills, skill].sort() : skills.filter((one) => one !== skill) };
      });
    },
  };
}
