import { z } from 'zod';
import { readPolicies } from './policies.ts';
import { readEntities } from './static-entities.ts';

/** Types of the gateway's own entities, and words that Cedar keeps for itself: no group may be called so. */
const TAKEN_TYPES: ReadonlySet<string> = new Set([
  ...['Client', 'Action', 'Tool', 'Prompt', 'Resource', 'FeatureType', 'MCP'],
  ...['true', 'false', 'if', 'then', 'else', 'in', 'is', 'like', 'has', '__cedar'],
]);

const NO_UPSTREAM =
  'is not available yet: it comes with the embedded authorization server; leave it empty for the claims of the issued token';
const claimName = z.string().max(253);

/**
 * `incomingAuth.authz` without its `type`, which says whether the plugin is there at all. Policies and entities are
 * read here, so that a host finds what is wrong with them, and where, before anything starts.
 * Source: vmcp spec §2 incomingAuth (inside config) and spec.incomingAuth authzConfig.
 */
export const cedarConfig = z
  .strictObject({
    policies: z
      .array(z.string())
      .min(1, 'expected at least one policy: without any, everything would be denied')
      .describe('Cedar policies; a string may hold several. `@id("…")` names one in the log'),
    entitiesJson: z
      .string()
      .default('[]')
      .describe(
        'JSON array of further entities `{ uid, attrs, parents }`; what a request makes wins over the same uid',
      ),
    groupClaimName: claimName
      .optional()
      .describe('claim that holds groups, by name or dotted path; without it `groups`, `roles`, `cognito:groups`'),
    groupEntityType: z
      .string()
      .max(63)
      .regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, 'expected letters, digits and underscores; a namespace is not possible')
      .refine((type) => !TAKEN_TYPES.has(type), 'is taken: groups need an entity type of their own')
      .default('THVGroup')
      .describe('entity type of groups and roles; empty means the default'),
    roleClaimName: claimName
      .optional()
      .describe('claim that holds roles, by name or dotted path; they count as groups'),
    primaryUpstreamProvider: z
      .string()
      .default('')
      .refine((name) => name === '', NO_UPSTREAM)
      .describe('upstream whose token supplies the claims; empty means the issued token, the only one now'),
  })
  .superRefine(({ policies, entitiesJson }, context) => {
    const read = readEntities(entitiesJson);
    if ('message' in read) context.addIssue({ code: 'custom', path: ['entitiesJson'], message: read.message });
    const entities = 'entities' in read ? read.entities : new Map();
    for (const { index, message } of readPolicies(policies, entities).problems) {
      context.addIssue({ code: 'custom', path: ['policies', index], message });
    }
  });

/** What the plugin was told. */
export type CedarConfig = z.output<typeof cedarConfig>;
