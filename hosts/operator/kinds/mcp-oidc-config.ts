import { caBundleRef, httpUrl, kube, secretKeyRef, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { configStatus } from './fields.ts';
import { COLUMNS, defineKind } from './kind.ts';

const kubernetesServiceAccount = z.strictObject({
  serviceAccount: text(253).optional().describe('service account whose tokens are accepted; default: all'),
  namespace: text(63).optional().describe('its namespace; default: that of this object'),
  issuer: httpUrl.default('https://kubernetes.default.svc').describe('issuer of the cluster'),
  jwksUrl: httpUrl.optional().describe('URL of the keys; default: from the discovery document'),
  introspectionUrl: httpUrl.optional().describe('token introspection endpoint (RFC 7662)'),
  useClusterAuth: z
    .boolean()
    .default(true)
    .describe('reach the issuer with the CA certificate and the token of the service account of the pod'),
});

const inline = z.strictObject({
  issuer: httpUrl.describe('issuer of the tokens'),
  jwksUrl: httpUrl.optional().describe('URL of the keys; default: from the discovery document'),
  introspectionUrl: httpUrl.optional().describe('token introspection endpoint (RFC 7662), for opaque tokens'),
  clientId: text(2048).optional().describe('client id for introspection'),
  clientSecretRef: secretKeyRef.optional().describe('client secret, in a Secret of the same namespace'),
  caBundleRef: caBundleRef.optional(),
  jwksAuthTokenPath: text(4096).optional().describe('file with a bearer token for the key requests'),
  jwksAllowPrivateIP: z.boolean().default(false).describe('allow private addresses of the issuer'),
  protectedResourceAllowPrivateIP: z.boolean().default(false).describe('allow private addresses of the issuer'),
  insecureAllowHTTP: z.boolean().default(false).describe('allow http URLs, for development'),
});

/** MCPOIDCConfig: an issuer that several servers share. Audience and scopes are part of the reference. */
export const mcpOidcConfig = defineKind({
  kind: 'MCPOIDCConfig',
  plural: 'mcpoidcconfigs',
  singular: 'mcpoidcconfig',
  shortNames: ['mcpoidc'],
  summary: 'MCPOIDCConfig is an issuer of tokens that servers accept.',
  spec: kube(
    z.strictObject({
      type: z.enum(['kubernetesServiceAccount', 'inline']).describe('which of the two members is set'),
      kubernetesServiceAccount: kubernetesServiceAccount
        .optional()
        .describe('tokens of service accounts of the cluster'),
      inline: inline.optional().describe('any issuer'),
    }),
    {
      rules: [
        {
          rule: "self.type == 'kubernetesServiceAccount' || !has(self.kubernetesServiceAccount)",
          message: 'kubernetesServiceAccount must be absent unless type is kubernetesServiceAccount',
          fieldPath: '.kubernetesServiceAccount',
          reason: 'FieldValueForbidden',
        },
        {
          rule: "self.type == 'inline' ? has(self.inline) : !has(self.inline)",
          message: 'inline must be set when type is inline, and only then',
          fieldPath: '.inline',
        },
      ],
    },
  ),
  status: z.strictObject(configStatus),
  columns: [COLUMNS.type, COLUMNS.valid, COLUMNS.age],
});
