import { int32, kube, ofSection, type Rule, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import {
  commonStatus,
  env,
  imagePullSecrets,
  metadataOverrides,
  port,
  refTo,
  resources,
  sessionAffinity,
} from './fields.ts';
import { AUTHZ_RULE, authzConfig, oidcConfigRef } from './incoming-auth.ts';
import { sessionStorage, telemetryConfigRef } from './shared-sections.ts';

/** What the operator runs in front of a server: the options of the proxy that MCPServer and MCPRemoteProxy share. */
export const proxyFields = {
  groupRef: refTo('MCPGroup').optional().describe('group that this is a member of'),
  proxyPort: port.default(8080).describe('port of the proxy'),
  oidcConfigRef: oidcConfigRef.optional(),
  authzConfig: authzConfig.optional().describe('policies of this server'),
  authzConfigRef: refTo('MCPAuthzConfig').optional().describe('MCPAuthzConfig of type cedarv1 in the same namespace'),
  audit: z
    .strictObject({ enabled: z.boolean().default(false).describe('write audit events') })
    .optional()
    .describe('audit log'),
  toolConfigRef: refTo('MCPToolConfig').optional().describe('MCPToolConfig: which tools are listed, and how'),
  externalAuthConfigRef: refTo('MCPExternalAuthConfig').optional().describe('how the server is authenticated to'),
  authServerRef: z
    .strictObject({
      kind: z.enum(['MCPExternalAuthConfig']).default('MCPExternalAuthConfig').describe('kind of the object'),
      name: text(253).describe('name of the object'),
    })
    .optional()
    .describe('MCPExternalAuthConfig of type embeddedAuthServer: the proxy is an authorization server too'),
  telemetryConfigRef: telemetryConfigRef.optional(),
  trustProxyHeaders: z.boolean().default(false).describe('trust X-Forwarded-* headers of the proxy in front'),
  endpointPrefix: z.string().max(256).optional().describe('path that URLs in SSE events begin with'),
  resources: resources.optional(),
  serviceAccount: text(253).optional().describe('existing service account; without it one is created'),
  resourceOverrides: z
    .strictObject({
      proxyDeployment: z
        .strictObject({
          ...metadataOverrides,
          podTemplateMetadataOverrides: z
            .strictObject(metadataOverrides)
            .optional()
            .describe('labels and annotations of the pods of the proxy'),
          env: env.optional(),
          imagePullSecrets: imagePullSecrets.optional(),
        })
        .optional()
        .describe('the Deployment of the proxy'),
      proxyService: z.strictObject(metadataOverrides).optional().describe('the Service of the proxy'),
    })
    .optional()
    .describe('labels, annotations and variables of the objects'),
  sessionAffinity,
  replicas: int32().optional().describe('number of pods of the proxy; without it another controller sets it'),
  sessionStorage: sessionStorage.optional().describe('where sessions are kept, for more than one pod of the proxy'),
  rateLimiting: ofSection('rateLimiting').optional().describe('rate limits; needs sessionStorage with provider redis'),
};

/** Fields of the status of both kinds, after the phase. */
export const proxyStatus = {
  message: z.string().optional().describe('detail of the phase'),
  url: z.string().optional().describe('URL of the Service of the proxy'),
  readyReplicas: int32().optional(),
  authzConfigHash: z.string().optional(),
  externalAuthConfigHash: z.string().optional(),
  oidcConfigHash: z.string().optional(),
  telemetryConfigHash: z.string().optional(),
  toolConfigHash: z.string().optional(),
  ...commonStatus,
};

/** Rules of {@link proxyFields}. */
export const PROXY_RULES: readonly Rule[] = [
  AUTHZ_RULE,
  {
    rule: "!has(self.rateLimiting) || (has(self.sessionStorage) && self.sessionStorage.provider == 'redis')",
    message: 'rateLimiting needs sessionStorage with provider redis',
    fieldPath: '.rateLimiting',
  },
  {
    rule: '!has(self.rateLimiting) || has(self.oidcConfigRef) || !(has(self.rateLimiting.perUser) || (has(self.rateLimiting.tools) && self.rateLimiting.tools.exists(t, has(t.perUser))))',
    message: 'perUser limits need oidcConfigRef, which tells users apart',
    fieldPath: '.rateLimiting',
  },
];

/** Headers that the proxy adds to requests. */
export const headerForward = z.strictObject({
  addPlaintextHeaders: z
    .record(z.string(), z.string().max(8192))
    .optional()
    .describe('headers with values that are not secret'),
  addHeadersFromSecret: kube(
    z
      .array(
        z.strictObject({
          headerName: text(255).describe('name of the header'),
          valueSecretRef: z
            .strictObject({ name: text(253), key: text(253) })
            .describe('its value, in a Secret of the same namespace'),
        }),
      )
      .max(100),
    { listType: 'map', listMapKeys: ['headerName'] },
  )
    .optional()
    .describe('headers whose values are secret'),
});
