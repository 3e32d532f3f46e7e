import { defineSlot } from '@toolmgr/core';
import type { OpenSkills } from './install/open-skills.ts';
import type { SkillsDeps } from './operations.ts';

/** Folders and settings of the user for skills. */
export interface SkillHome extends Pick<OpenSkills, 'cacheDir' | 'settings'>, Pick<SkillsDeps, 'pushSettings'> {}

/** The skills of the user; the host fills it with the name `user`. */
export const skillHomes = defineSlot<SkillHome>('skillHomes');
