import { z } from 'zod';

/** Name of a workload: letters, digits, `.`, `_`, `-`; starts with a letter or digit. */
export const workloadName = z
  .string()
  .max(100, 'a name has at most 100 characters')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'a name has letters, digits, ".", "_", "-", and starts with a letter or digit',
  );

/** Words in paths of the manager's API: a new workload cannot have such a name. */
export const RESERVED_WORKLOAD_NAMES: readonly string[] = ['delete', 'import', 'restart', 'stop', 'upgrade-check'];
