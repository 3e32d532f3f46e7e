import { FIELD_NAME } from '@toolmgr/core';
import { int32, kube, ofSection, type Rule, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import type { WrittenKeys } from '../../vmcp/config-schema.ts';
import { byPath, HEADER_NAME } from '../../vmcp/host-keys.ts';
import { commonStatus, dateTime, imagePullSecrets, podTemplateSpec, refTo, sessionAffinity } from './fields.ts';
import { incomingAuth } from './incoming-auth.ts';
import { COLUMNS, defineKind, type ObjectOf } from './kind.ts';
import { outgoingAuth, sessionStorage, telemetryConfigRef } from './shared-sections.ts';

/** What is read here of `spec.authServerConfig`, whose schema is that of the plugin. */
export interface AuthServerSection {
  readonly upstreamProviders: readonly { readonly name: string }[];
  readonly primaryUpstreamProvider?: string;
  readonly disableUpstreamTokenInjection?: boolean;
  readonly [key: string]: unknown;
}

/** `spec.config`: a vmcp file whose keys are all optional. The schemas of its sections are those of the plugins. */
export type WrittenConfig = Readonly<Partial<WrittenKeys>> & Readonly<Record<string, unknown>>;

const passthroughHeaders = kube(
  z
    .array(
      kube(z.string().min(HEADER_NAME.minLength).max(HEADER_NAME.maxLength).regex(FIELD_NAME), {
        rules: HEADER_NAME.rules,
      }),
    )
    .max(100),
  { listType: 'set' },
);

const PER_USER = 'has(self.config.rateLimiting.perUser)';
const TOOL_PER_USER = 'has(self.config.rateLimiting.tools) && self.config.rateLimiting.tools.exists(t, has(t.perUser))';

/** Rules between fields of `spec`. Source: vmcp spec §2, §7. */
const RULES: readonly Rule[] = [
  {
    rule: "!has(self.config) || !has(self.config.rateLimiting) || (has(self.sessionStorage) ? self.sessionStorage.provider == 'redis' : has(self.config.sessionStorage) && self.config.sessionStorage.provider == 'redis')",
    message: 'config.rateLimiting needs sessionStorage with provider redis',
    fieldPath: '.config.rateLimiting',
  },
  {
    rule: `!has(self.config) || !has(self.config.rateLimiting) || !${PER_USER} || self.incomingAuth.type == 'oidc'`,
    message: 'perUser limits need incomingAuth of type oidc, which tells users apart',
    fieldPath: '.config.rateLimiting.perUser',
  },
  {
    rule: `!has(self.config) || !has(self.config.rateLimiting) || !(${TOOL_PER_USER}) || self.incomingAuth.type == 'oidc'`,
    message: 'perUser limits of tools need incomingAuth of type oidc, which tells users apart',
    fieldPath: '.config.rateLimiting.tools',
  },
  {
    rule: "!has(self.embeddingServerRef) || !has(self.config) || !has(self.config.optimizer) || self.config.optimizer.embeddingProvider != 'openai'",
    message: 'embeddingServerRef cannot be combined with config.optimizer.embeddingProvider openai',
    fieldPath: '.embeddingServerRef',
    reason: 'FieldValueForbidden',
  },
];

const spec = z.strictObject({
  groupRef: refTo('MCPGroup').describe('group whose members are the backends'),
  incomingAuth: incomingAuth.describe('how callers are authenticated; takes precedence over config.incomingAuth'),
  authServerConfig: ofSection<AuthServerSection>('authServerConfig')
    .optional()
    .describe('embedded OAuth authorization server; without it an external identity provider is used'),
  config: ofSection<WrittenConfig>('.', { within: byPath(({ inCluster }) => inCluster) })
    .optional()
    .describe('the vmcp file; the operator fills what is absent'),
  embeddingServerRef: refTo('EmbeddingServer').optional().describe('EmbeddingServer that the optimizer uses'),
  imagePullSecrets: imagePullSecrets.optional(),
  outgoingAuth: outgoingAuth
    .optional()
    .describe('how backends are authenticated to; takes precedence over config.outgoingAuth'),
  passthroughHeaders: passthroughHeaders
    .optional()
    .describe('names of headers of callers that all backends get; takes precedence over config.passthroughHeaders'),
  podTemplateSpec: podTemplateSpec('vmcp').optional(),
  replicas: int32().optional().describe('number of pods; without it another controller sets it, such as an autoscaler'),
  serviceAccount: text(253)
    .optional()
    .describe('existing service account; without it one is created, with the rights that the pods need'),
  serviceType: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']).default('ClusterIP').describe('type of the Service'),
  sessionAffinity,
  sessionStorage: sessionStorage.optional().describe('where sessions are kept, for more than one pod'),
  telemetryConfigRef: telemetryConfigRef.optional(),
});

/** States of `discoveredBackends[].status`. */
export const BACKEND_STATES = ['ready', 'degraded', 'unavailable', 'unauthenticated', 'unknown'] as const;

const discoveredBackend = z.strictObject({
  name: z.string(),
  url: z.string().optional(),
  status: z.enum(BACKEND_STATES).optional(),
  message: z.string().optional(),
  authType: z.string().optional().describe('type of the authentication towards the backend'),
  authConfigRef: z.string().optional().describe('name of the discovered MCPExternalAuthConfig'),
  circuitBreakerState: z
    .enum(['closed', 'open', 'half-open', ''])
    .optional()
    .describe('empty when the breaker is disabled'),
  circuitLastChanged: dateTime.optional(),
  consecutiveFailures: int32().optional().describe('0 when the backend is healthy'),
  lastHealthCheck: dateTime.optional(),
  mcpRevision: z.enum(['2026-07-28', '2025-11-25', '']).optional().describe('empty until the backend was probed'),
});

/** Values of `status.phase`. */
export const PHASES = ['Pending', 'Ready', 'Degraded', 'Failed'] as const;

const status = z.strictObject({
  phase: z.enum(PHASES).default('Pending').describe('state of the server'),
  message: z.string().optional().describe('detail of the phase'),
  url: z.string().optional().describe('URL of the Service'),
  mcpUrl: z.string().optional().describe('URL of the MCP endpoint, which is url with its path'),
  backendCount: int32().optional().describe('routable backends: ready and unauthenticated ones'),
  authzConfigHash: z.string().optional().describe('hash of the spec of the referenced MCPAuthzConfig'),
  oidcConfigHash: z.string().optional().describe('hash of the spec of the referenced MCPOIDCConfig'),
  telemetryConfigHash: z.string().optional().describe('hash of the spec of the referenced MCPTelemetryConfig'),
  discoveredBackends: kube(z.array(discoveredBackend), { listType: 'map', listMapKeys: ['name'] })
    .optional()
    .describe('backends of the group'),
  ...commonStatus,
});

/** VirtualMCPServer. Source: vmcp spec §2. */
export const virtualMcpServer = defineKind({
  kind: 'VirtualMCPServer',
  plural: 'virtualmcpservers',
  singular: 'virtualmcpserver',
  shortNames: ['vmcp', 'virtualmcp'],
  summary: 'VirtualMCPServer serves the backends of one MCPGroup as one MCP server.',
  spec: kube(spec, { rules: RULES }),
  status,
  columns: [
    COLUMNS.phase,
    COLUMNS.url,
    { name: 'Backends', type: 'integer', jsonPath: '.status.backendCount' },
    COLUMNS.age,
    COLUMNS.ready,
    COLUMNS.message,
  ],
});

export type VirtualMcpServer = ObjectOf<typeof virtualMcpServer>;
