import { isObject, type PlanPart, type SectionReader } from '@toolmgr/core';
import { z } from 'zod';

/** The section: `type` says whether the plugin is in the plan, the rest is its configuration. */
interface Authz {
  readonly type: 'cedar' | 'none';
}

/** `incomingAuth.authz`. */
export const contract: SectionReader = {
  schema(config, section) {
    const type = z.enum(['cedar', 'none']);
    const typed = config.safeExtend({ type });
    if (!isObject(section) || section.type === 'cedar') return typed;
    if (section.type !== 'none') return z.looseObject({ type });
    return typed.safeExtend({ policies: noPolicies as unknown as z.ZodType<string[], unknown> });
  },
  fromContract(section: Authz | undefined, _facts, use): PlanPart {
    const { type = 'none', ...settings } = section ?? {};
    return type === 'none' ? {} : { plugins: [{ use, with: settings }] };
  },
};

/** With `type: none` nothing is decided, so policies would only seem to protect. The rest is read beside one that permits all. */
const noPolicies = z
  .unknown()
  .optional()
  .refine((given) => given === undefined || (Array.isArray(given) && given.length === 0), {
    message: 'would not be decided with type none; remove them',
    abort: true,
  })
  .transform(() => ['permit(principal, action, resource);']);
