import type { Section } from '../section.ts';

/** Status, related resources, events and errors of the resource. */
export const status = [
  {
    source: 'vmcp spec §2 status',
    says: {
      'vmcp.status.authz-config-hash': 'status.authzConfigHash is filled only when the reference is set',
      'vmcp.status.oidc-config-hash': 'status.oidcConfigHash is filled only when the reference is set',
      'vmcp.status.telemetry-config-hash': 'status.telemetryConfigHash is filled only when the reference is set',
    },
  },
  {
    source: 'vmcp spec §2 status',
    says: {
      'vmcp.status.backend-count': 'status.backendCount is an int32 of routable backends, ready plus unauthenticated',
      'vmcp.status.backend-count-excludes': 'status.backendCount leaves out unavailable, degraded and unknown backends',
      'vmcp.status.discovered-backends': 'status.discoveredBackends lists the backends found from the group',
    },
  },
  {
    source: 'vmcp spec §2 status',
    says: {
      'vmcp.related.embedding-server': 'EmbeddingServer is reached through spec.embeddingServerRef',
      'vmcp.related.authz-config': 'MCPAuthzConfig is reached through spec.incomingAuth.authzConfigRef',
      'vmcp.related.external-auth-config':
        'MCPExternalAuthConfig is reached through spec.outgoingAuth.default.externalAuthConfigRef',
      'vmcp.related.group': 'MCPGroup is reached through spec.groupRef and spec.config.groupRef',
      'vmcp.related.oidc-config': 'MCPOIDCConfig is reached through spec.incomingAuth.oidcConfigRef',
      'vmcp.related.telemetry-config': 'MCPTelemetryConfig is reached through spec.telemetryConfigRef',
      'vmcp.related.tool-config': 'MCPToolConfig is reached through spec.config.aggregation.tools[].toolConfigRef',
      'vmcp.related.composite-tool-definition':
        'VirtualMCPCompositeToolDefinition is reached through spec.config.compositeToolRefs',
    },
  },
  {
    source: 'vmcp spec §2 status',
    says: {
      'vmcp.status.phase': 'status.phase is Pending, Ready, Degraded or Failed, Pending by default',
      'vmcp.status.message': 'status.message is a string with the detail of the phase',
      'vmcp.status.url': 'status.url is the address of the aggregated server',
      'vmcp.status.observed-generation': 'status.observedGeneration is an int64',
      'vmcp.status.conditions': 'status.conditions is a list of observations',
      'vmcp.condition.type':
        'conditions[].type is required CamelCase with an optional DNS-style prefix, at most 316 characters',
      'vmcp.condition.status': 'conditions[].status is required and True, False or Unknown',
      'vmcp.condition.reason': 'conditions[].reason is required CamelCase of 1 to 1024 characters',
      'vmcp.condition.message': 'conditions[].message is required, may be empty and has at most 32768 characters',
      'vmcp.condition.last-transition-time': 'conditions[].lastTransitionTime is a required date-time',
      'vmcp.condition.observed-generation': 'conditions[].observedGeneration is an int64 of at least 0',
    },
  },
  {
    source: 'vmcp spec §2 status',
    says: {
      'vmcp.discovered-backend.name': 'discoveredBackends[].name is required',
      'vmcp.discovered-backend.url': 'discoveredBackends[].url is a string',
      'vmcp.discovered-backend.status':
        'discoveredBackends[].status is ready, degraded, unavailable, unauthenticated or unknown',
      'vmcp.discovered-backend.message': 'discoveredBackends[].message is a string',
      'vmcp.discovered-backend.auth-type': 'discoveredBackends[].authType is a string',
      'vmcp.discovered-backend.auth-config-ref':
        'discoveredBackends[].authConfigRef names the discovered MCPExternalAuthConfig',
      'vmcp.discovered-backend.circuit-breaker-state':
        'circuitBreakerState is closed, open or half-open, and empty when the breaker is disabled',
      'vmcp.discovered-backend.circuit-last-changed': 'circuitLastChanged is a date-time',
      'vmcp.discovered-backend.consecutive-failures':
        'consecutiveFailures is an integer and 0 again when the backend is healthy',
      'vmcp.discovered-backend.last-health-check': 'lastHealthCheck is a date-time',
      'vmcp.discovered-backend.mcp-revision': 'mcpRevision is 2026-07-28 or 2025-11-25, and empty until probed',
    },
  },
  {
    source: 'vmcp spec §3 states and transitions',
    says: {
      'vmcp.state.phase-initial': 'the initial phase is Pending',
    },
  },
  {
    source: 'vmcp spec §3 states and transitions',
    says: {
      'vmcp.state.breaker': 'the breaker states are closed, open and half-open',
    },
  },
  {
    source: 'vmcp spec §6 events',
    says: {
      'vmcp.event.deprecated-provider':
        'a Warning event AuthzPrimaryUpstreamProviderDeprecated is emitted whenever the deprecated field is consumed',
      'vmcp.event.auth-server-condition':
        'the condition AuthServerConfigValidated reports the validation of the embedded server',
    },
  },
  {
    source: 'vmcp spec §7 errors',
    says: {
      'vmcp.error.http-issuer': 'a non-localhost http issuer without insecureAllowHTTP is rejected at reconcile time',
      'vmcp.error.authz-config-ref-variant': 'an authzConfigRef to another variant than Cedar fails reconciliation',
    },
  },
] as const satisfies readonly Section[];
