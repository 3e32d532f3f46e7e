import type { Section } from '../section.ts';

/** Name, group, backends, sessions, operations and the tool surface of the served endpoint. */
export const server = [
  {
    source: 'vmcp spec §2 spec.config',
    says: {
      'vmcp.config.name': 'config.name is a string and names the server',
      'vmcp.config.group-ref': 'config.groupRef is a string and names the group',
      'vmcp.config.incoming-auth-anonymous': 'config.incomingAuth.type is required and takes anonymous',
      'vmcp.config.outgoing-auth-source-inline': 'config.outgoingAuth.source is required and takes inline',
      'vmcp.config.backends-when-inline': 'config.backends are used when the outgoing source is inline',
      'vmcp.config.backends-empty-when-discovered': 'config.backends is empty when the source is discovered',
      'vmcp.config.outgoing-auth-source-discovered': 'config.outgoingAuth.source takes discovered',
    },
  },
  {
    source: 'vmcp spec §2 spec.config',
    says: {
      'vmcp.config.group-ref-filled': 'the operator fills config.groupRef from spec.groupRef',
      'vmcp.config.auth-superseded': 'the operator supersedes config.incomingAuth and config.outgoingAuth',
      'vmcp.config.composite-tool-refs':
        'config.compositeToolRefs lists required names of VirtualMCPCompositeToolDefinition in the namespace, cluster only',
      'vmcp.config.telemetry-deprecated': 'config.telemetry is deprecated for the operator and valid standalone',
    },
  },
  {
    source: 'vmcp spec §2 spec.config',
    says: {
      'vmcp.config.metadata':
        'config.metadata is a string map: extra metadata of the server, shown by /status and in audit lines',
    },
  },
  {
    source: 'vmcp spec §2 spec.config',
    says: {
      'vmcp.config.passthrough-headers':
        'config.passthroughHeaders is string[] of client header names sent unchanged to all backends',
      'vmcp.config.passthrough-headers-restricted':
        'Host, hop-by-hop and X-Forwarded-* headers are refused as passthrough headers',
    },
  },
  {
    source: 'vmcp spec §2 spec.config',
    says: {
      'vmcp.config.session-storage-provider': 'config.sessionStorage.provider is required and memory or redis',
      'vmcp.config.session-storage-address': 'config.sessionStorage.address is a string',
      'vmcp.config.session-storage-db': 'config.sessionStorage.db is an int32 of at least 0, 0 by default',
      'vmcp.config.session-storage-key-prefix': 'config.sessionStorage.keyPrefix is a string',
      'vmcp.config.session-storage-password': 'the Redis password comes from TOOLMGR_SESSION_REDIS_PASSWORD',
    },
  },
  {
    source: 'vmcp spec §2 backends',
    says: {
      'vmcp.backends.name': 'backends[].name is required',
      'vmcp.backends.url': 'backends[].url is required and starts with http:// or https://',
      'vmcp.backends.transport': 'backends[].transport is required and sse or streamable-http',
      'vmcp.backends.type': 'backends[].type is entry or empty',
      'vmcp.backends.type-entry-remote': 'entry marks a direct remote server',
      'vmcp.backends.ca-bundle-path': 'backends[].caBundlePath is a path and allowed only for type entry',
      'vmcp.backends.metadata': 'backends[].metadata is a string map',
      'vmcp.backends.metadata-group': 'the metadata key group is set by the service and overrides a user value',
    },
  },
  {
    source: 'vmcp spec §2 backends',
    says: {
      'vmcp.backends.name-matches-group': 'backends[].name must match a backend name of the group',
      'vmcp.backends.ca-bundle-mount': 'CA bundles are mounted under a per-name directory as ca.crt',
    },
  },
  {
    source: 'vmcp spec §2 operational',
    says: {
      'vmcp.operational.timeouts-default': 'operational.timeouts.default is a Go duration, 30s by default',
      'vmcp.operational.timeouts-per-workload': 'operational.timeouts.perWorkload maps a workload to its duration',
    },
  },
  {
    source: 'vmcp spec §2 operational',
    says: {
      'vmcp.operational.log-level': 'operational.logLevel takes debug only, and its absence means info',
      'vmcp.operational.health-check-interval': 'failureHandling.healthCheckInterval is 30s by default',
      'vmcp.operational.health-check-timeout': 'failureHandling.healthCheckTimeout is 10s by default',
      'vmcp.operational.health-check-timeout-below-interval':
        'healthCheckTimeout should be less than healthCheckInterval',
      'vmcp.operational.partial-failure-mode':
        'failureHandling.partialFailureMode is fail or best_effort, fail by default',
      'vmcp.operational.status-reporting-interval': 'failureHandling.statusReportingInterval is 30s by default',
      'vmcp.operational.unhealthy-threshold': 'failureHandling.unhealthyThreshold is an integer, 3 by default',
      'vmcp.operational.circuit-breaker-enabled': 'circuitBreaker.enabled is false by default',
      'vmcp.operational.circuit-breaker-failure-threshold':
        'circuitBreaker.failureThreshold is an integer of at least 1, 5 by default',
      'vmcp.operational.circuit-breaker-timeout': 'circuitBreaker.timeout is a Go duration, 60s by default',
      'vmcp.operational.circuit-breaker-timeout-minimum': 'circuitBreaker.timeout is at least 1s',
    },
  },
  {
    source: 'vmcp spec §4 endpoints',
    says: {
      'vmcp.surface.backend-tools':
        'by default tools/list shows all backend tools after filtering, overrides and conflict resolution',
      'vmcp.surface.hidden-tools-routable': 'tools hidden by filters stay routable for composite tools',
    },
  },
  {
    source: 'vmcp spec §4 endpoints',
    says: {
      'vmcp.surface.composite-tools': 'composite tools are advertised when configured',
    },
  },
  {
    source: 'vmcp spec §4 endpoints',
    says: {
      'vmcp.surface.find-and-call-tool': 'with the optimizer find_tool and call_tool replace the direct backend tools',
    },
  },
  {
    source: 'vmcp spec §4 endpoints',
    says: {
      'vmcp.surface.execute-tool-script': 'with code mode execute_tool_script is advertised',
    },
  },
  {
    source: 'vmcp spec §4 endpoints',
    says: {
      'vmcp.surface.oauth-authorize': 'the embedded server serves /oauth/authorize, or under the override base URL',
    },
  },
  {
    source: 'vmcp spec §4 endpoints',
    says: {
      'vmcp.surface.oauth-register': 'the embedded server serves /oauth/register',
    },
  },
  {
    source: 'vmcp spec §4 endpoints',
    says: {
      'vmcp.surface.oauth-callback': '/oauth/callback is the default upstream redirect path',
    },
  },
  {
    source: 'vmcp spec §4 endpoints',
    says: {
      'vmcp.surface.metrics': '/metrics is served on the main transport port when enabled',
    },
  },
  {
    source: 'vmcp spec §5 authentication',
    says: {
      'vmcp.authentication.oidc-audience': 'tokens are validated with the audience of this server',
    },
  },
  {
    source: 'vmcp spec §5 authentication',
    says: {
      'vmcp.authentication.oidc-optional-authorization':
        'oidc may be joined by inline policies, a ConfigMap or a shared MCPAuthzConfig',
    },
  },
  {
    source: 'vmcp spec §5 authentication',
    says: {
      'vmcp.authentication.issuer-matches': 'the embedded issuer must match the issuer of the referenced oidcConfigRef',
    },
  },
  {
    source: 'vmcp spec §5 authentication',
    says: {
      'vmcp.authentication.registration': 'the embedded server supports RFC 7591 registration at /oauth/register',
    },
  },
  {
    source: 'vmcp spec §5 authentication',
    says: {
      'vmcp.authentication.upstream-drive': 'tokens are issued after the user went through the upstream providers',
    },
  },
  {
    source: 'vmcp spec §9 versioning',
    says: {
      'vmcp.versioning.revisions': 'the MCP revisions 2025-11-25 and 2026-07-28 are both served',
    },
  },
  {
    source: 'vmcp spec §9 versioning',
    says: {
      'vmcp.versioning.resource-version': 'the resource version is v1beta1',
    },
  },
  {
    source: 'vmcp spec §9 versioning',
    says: {
      'vmcp.versioning.revision-reported':
        'the negotiated revision of a backend stands in status.discoveredBackends[].mcpRevision',
    },
  },
] as const satisfies readonly Section[];
