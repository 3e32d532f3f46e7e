import type { StepType } from '@toolmgr/core';
import { elicitationStep } from './steps/elicitation.ts';
import { forEachStep } from './steps/for-each.ts';
import { toolStep } from './steps/tool.ts';

/** The built-in step types by `type`. Plugins add others through the slot `stepTypes`. */
export const STEP_TYPES: ReadonlyMap<string, StepType> = new Map<string, StepType>([
  ['tool', toolStep],
  ['elicitation', elicitationStep],
  ['forEach', forEachStep],
]);
