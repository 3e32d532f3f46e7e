import { type FileFacts, isObject, type PlanPart, type SectionProblem } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';
import { z } from 'zod';

/** The section: `type` says whether the plugin is in the plan, the rest is its configuration. */
interface Authz {
  readonly type: 'cedar' | 'none';
  readonly primaryUpstreamProvider?: string;
}

/** `incomingAuth.authz`. */
export const contract: ClusterReader = {
  schema(config, section) {
    const type = z.enum(['cedar', 'none']);
    const typed = config.safeExtend({ type });
    if (!isObject(section) || section.type === 'cedar') return typed;
    if (section.type !== 'none') return z.looseObject({ type });
    return typed.safeExtend({ policies: noPolicies as unknown as z.ZodType<string[], unknown> });
  },
  fromContract(section: Authz | undefined, { primaryUpstream }, use): PlanPart {
    const { type = 'none', primaryUpstreamProvider: given, ...settings } = section ?? {};
    const provider = given || primaryUpstream;
    const claims = provider === undefined ? {} : { primaryUpstreamProvider: provider };
    return type === 'none' ? {} : { plugins: [{ use, with: { ...settings, ...claims } }] };
  },
  problems: ({ primaryUpstreamProvider: given }: Authz, facts) => [
    ...upstreamNameProblems(given, PLACE, facts),
    ...differences(given, facts),
  ],
  warnings: ({ primaryUpstreamProvider: given }: Authz) =>
    given ? [{ path: PLACE, message: 'is deprecated; its new place is authServerConfig.primaryUpstreamProvider' }] : [],
  fromCluster: async () => ({ rules: { within: { '': { required: ['type'] } } } }),
};

const PLACE = ['primaryUpstreamProvider'];

/** Both places may say it, but not two names. */
function differences(given: string | undefined, { givenPrimary }: FileFacts): readonly SectionProblem[] {
  if (!given || givenPrimary === undefined || given === givenPrimary) return [];
  const message = `differs from authServerConfig.primaryUpstreamProvider ("${givenPrimary}"); remove it here, where it is deprecated`;
  return [{ path: PLACE, message }];
}

/** With `type: none` nothing is decided, so policies would only seem to protect. The rest is read beside one that permits all. */
const noPolicies = z
  .unknown()
  .optional()
  .refine((given) => given === undefined || (Array.isArray(given) && given.length === 0), {
    message: 'would not be decided with type none; remove them',
    abort: true,
  })
  .transform(() => ['permit(principal, action, resource);']);
