import { behaviours } from './behaviours.ts';
import { policyBehaviours } from './behaviours-policy.ts';
import { defaults } from './defaults.ts';
import type { Mutation } from './mutation.ts';

/** All mutations that `npm run proof` tries. */
export const mutations: readonly Mutation[] = [...defaults, ...behaviours, ...policyBehaviours];
