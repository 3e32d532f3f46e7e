import { z } from 'zod';
import { readPolicies } from './parse-policies.ts';
import { readEntities } from './static-entities.ts';

/** Types of the gateway's entities and reserved words of Cedar, which a group type must not use. */
const RESERVED_TYPES: ReadonlySet<string> = new Set([
  ...['Client', 'Action', 'Tool', 'Prompt', 'Resource', 'FeatureType', 'MCP'],
  ...['true', 'false', 'if', 'then', 'else', 'in', 'is', 'like', 'has', '__cedar'],
]);

const claimName = z.string().max(253);

/**
 * `incomingAuth.authz` without its `type`. Policies and entities are parsed here, so that errors have a path and are found
 * before the start.
 * Source: vmcp spec §2 incomingAuth (inside config) and spec.incomingAuth authzConfig.
 */
export const cedarConfig = z
  .strictObject({
    policies: z
      .array(z.string())
      .min(1, 'expected at least one policy: without policies everything is denied')
      .describe(
        'Cedar policies; a string may hold several. `@id("…")` names one in the log; a permit with `@approval("…")` permits a tool only after the person behind the client has agreed',
      ),
    entitiesJson: z
      .string()
      .default('[]')
      .describe(
        'JSON array of further entities `{ uid, attrs, parents }`; entities of a request override the same uid',
      ),
    groupClaimName: claimName
      .optional()
      .describe('claim with groups, by name or dotted path; default `groups`, `roles`, `cognito:groups`'),
    groupEntityType: z
      .string()
      .max(63)
      .regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, 'expected letters, digits and underscores; a namespace is not possible')
      .refine((type) => !RESERVED_TYPES.has(type), 'is reserved: groups need their own entity type')
      .default('THVGroup')
      .describe('entity type of groups and roles; empty means the default'),
    roleClaimName: claimName.optional().describe('claim with roles, by name or dotted path; roles count as groups'),
    primaryUpstreamProvider: z
      .string()
      .regex(
        /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$/,
        'expected a name of 1 to 63 lower-case letters, digits and hyphens',
      )
      .default('')
      .describe(
        'provider of the authorization server whose tokens have the claims; empty means the issued token. In a vmcp file `authServerConfig.primaryUpstreamProvider` is its place',
      ),
  })
  .superRefine(({ policies, entitiesJson }, context) => {
    const read = readEntities(entitiesJson);
    if ('message' in read) context.addIssue({ code: 'custom', path: ['entitiesJson'], message: read.message });
    const entities = 'entities' in read ? read.entities : new Map();
    for (const { index, message } of readPolicies(policies, entities).problems) {
      context.addIssue({ code: 'custom', path: ['policies', index], message });
    }
  });

/** The parsed configuration. */
export type CedarConfig = z.output<typeof cedarConfig>;
