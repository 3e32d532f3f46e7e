import { httpUrl, kube, objectName, onlyWithType, type Rule, scopes, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { dnsLabel, refTo } from './fields.ts';

/** A claim of tokens, by name or dotted path. */
const claimName = z.string().max(253);

/** Policies in the object itself or in a ConfigMap. Source: vmcp spec §2 `authzConfig`. */
export const authzConfig = kube(
  z.strictObject({
    type: z.enum(['configMap', 'inline']).default('configMap').describe('where the policies are'),
    configMap: z
      .strictObject({
        name: objectName.describe('name of the ConfigMap'),
        key: text(253).default('authz.json').describe('key with the authorization file'),
      })
      .optional()
      .describe('a ConfigMap with an authorization file; exactly with type configMap'),
    inline: z
      .strictObject({
        policies: z.array(z.string().min(1)).max(1000).describe('Cedar policies; a text may hold several'),
        entitiesJson: z.string().default('[]').describe('JSON array of Cedar entities'),
        primaryUpstreamProvider: dnsLabel
          .optional()
          .describe('deprecated, read for one more release: use spec.authServerConfig.primaryUpstreamProvider'),
      })
      .optional()
      .describe('policies in this object; exactly with type inline'),
    groupClaimName: claimName
      .optional()
      .describe('claim with groups; default: groups, roles or cognito:groups. Overrides the ConfigMap'),
    groupEntityType: z
      .string()
      .max(63)
      .regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, 'expected letters, digits and underscores, without a namespace')
      .optional()
      .describe('Cedar entity type of groups; THVGroup when empty. Overrides the ConfigMap'),
    roleClaimName: claimName.optional().describe('claim with roles. Overrides the ConfigMap'),
  }),
  {
    rules: [onlyWithType('configMap'), onlyWithType('inline')],
  },
);

/** Two ways to name the policies. */
export const AUTHZ_RULE: Rule = {
  rule: '!(has(self.authzConfig) && has(self.authzConfigRef))',
  message: 'authzConfig and authzConfigRef are mutually exclusive',
  fieldPath: '.authzConfigRef',
  reason: 'FieldValueForbidden',
};

/** How a consumer uses an MCPOIDCConfig. Source: vmcp spec §2 `oidcConfigRef`. */
export const oidcConfigRef = z
  .strictObject({
    name: objectName.describe('name of the MCPOIDCConfig'),
    audience: text(2048).describe('audience of tokens; unique per server, so that tokens are not replayed'),
    scopes: scopes.default(['openid']).describe('scopes in the protected resource metadata (RFC 9728)'),
    resourceUrl: httpUrl
      .optional()
      .describe('public URL in the protected resource metadata; default: the URL of the Service'),
  })
  .describe('MCPOIDCConfig in the same namespace');

/** `spec.incomingAuth`. Source: vmcp spec §2. */
export const incomingAuth = kube(
  z.strictObject({
    type: z.enum(['anonymous', 'oidc']).describe('how callers are authenticated; anonymous accepts everyone'),
    oidcConfigRef: oidcConfigRef.optional(),
    authzConfig: authzConfig.optional().describe('policies of this server'),
    authzConfigRef: refTo('MCPAuthzConfig').optional().describe('MCPAuthzConfig of type cedarv1 in the same namespace'),
  }),
  {
    rules: [
      {
        rule: "self.type != 'oidc' || has(self.oidcConfigRef)",
        message: 'oidcConfigRef is required when type is oidc',
        fieldPath: '.oidcConfigRef',
        reason: 'FieldValueRequired',
      },
      AUTHZ_RULE,
    ],
  },
);
