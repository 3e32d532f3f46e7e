import { z } from 'zod';
import { workloadName } from './workload-name.ts';

/** The group of workloads without another one. It always exists. */
export const DEFAULT_GROUP = 'default';

const MAX_LENGTH = 100;

/** Name of a group that is created: lower case letters, digits, `_`, `-`, and single spaces between words. */
export const newGroupName = z
  .string()
  .max(MAX_LENGTH, `a name has at most ${MAX_LENGTH} characters`)
  .regex(
    /^[a-z0-9_-]+( [a-z0-9_-]+)*$/,
    'a group name has lower case letters, digits, "_", "-", and single spaces between words',
  );

/** Name of a group on disk: earlier versions also created groups with the names of workloads. */
export const groupName = z.union([newGroupName, workloadName], {
  error: newGroupName.safeParse('?').error?.issues[0]?.message ?? '',
});
