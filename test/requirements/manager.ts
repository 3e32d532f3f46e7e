import { operations } from './manager/operations.ts';
import { records } from './manager/records.ts';
import { runConfiguration } from './manager/run-configuration.ts';
import { sharedShapes } from './manager/shared-shapes.ts';
import { skillsAndWorkloads } from './manager/skills-and-workloads.ts';
import { workloads } from './manager/workloads.ts';

/** Every checkable line of the manager spec. */
export const manager = [
  ...sharedShapes,
  ...records,
  ...workloads,
  ...runConfiguration,
  ...operations,
  ...skillsAndWorkloads,
] as const;
