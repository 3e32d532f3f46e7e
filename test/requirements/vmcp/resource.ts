import type { Section } from '../section.ts';

/** The VirtualMCPServer object itself: identity, spec and status. */
export const resource = [
  {
    source: 'vmcp spec identity',
    says: {
      'vmcp.identity.api-version': 'the apiVersion is {api_group}/v1beta1',
      'vmcp.identity.kind': 'the kind is VirtualMCPServer',
      'vmcp.identity.namespaced': 'the resource is namespaced',
      'vmcp.identity.short-names': 'the short names are vmcp and virtualmcp',
      'vmcp.identity.minimal-object':
        'metadata.name, metadata.namespace, spec.groupRef.name and spec.incomingAuth.type make a complete object',
    },
  },
  {
    source: 'vmcp spec notation',
    says: {
      'vmcp.notation.go-duration':
        'a Go duration string is one or more number and unit groups with ns, us, µs, ms, s, m and h',
    },
  },
  {
    source: 'vmcp spec notation',
    says: {
      'vmcp.notation.issuer-url': 'an issuer-style URL is http or https without query, fragment or trailing slash',
    },
  },
  {
    source: 'vmcp spec §1 what the service does',
    says: {
      'vmcp.service.one-endpoint': 'the backends of one group appear to clients as one MCP server at one endpoint',
    },
  },
  {
    source: 'vmcp spec §2 spec',
    says: {
      'vmcp.spec.image-pull-secrets-where':
        'spec.imagePullSecrets applies to the pod spec and to the operator-managed service account',
      'vmcp.spec.image-pull-secrets-union':
        'the pod list is the union by name of spec.imagePullSecrets and the pod template list',
      'vmcp.spec.image-pull-secrets-collision': 'on a name collision the pod template entry wins',
      'vmcp.spec.image-pull-secrets-service-account': 'the service account list comes only from spec.imagePullSecrets',
      'vmcp.spec.pod-template-spec':
        'spec.podTemplateSpec customises the pod, whose aggregator container is named vmcp',
      'vmcp.spec.replicas-unset': 'without spec.replicas the operator leaves the number of replicas alone',
      'vmcp.spec.service-account': 'spec.serviceAccount names an existing account, and one is created without it',
    },
  },
  {
    source: 'vmcp spec §2 spec',
    says: {
      'vmcp.spec.group-ref': 'spec.groupRef is required and holds name',
      'vmcp.spec.group-ref-name': 'spec.groupRef.name is required with at least 1 character',
      'vmcp.spec.incoming-auth-required': 'spec.incomingAuth is required, with type anonymous for none',
      'vmcp.spec.config-optional': 'spec.config is optional',
      'vmcp.spec.embedding-server-ref':
        'spec.embeddingServerRef holds the required name of an EmbeddingServer in the same namespace',
      'vmcp.spec.image-pull-secrets': 'spec.imagePullSecrets lists objects of name, empty by default',
      'vmcp.spec.passthrough-headers-restricted':
        'spec.passthroughHeaders refuses Host, hop-by-hop and X-Forwarded-* headers',
      'vmcp.spec.replicas': 'spec.replicas is an int32 of at least 0',
      'vmcp.spec.service-type': 'spec.serviceType is ClusterIP, NodePort or LoadBalancer, ClusterIP by default',
      'vmcp.spec.session-affinity': 'spec.sessionAffinity is ClientIP or None, ClientIP by default',
      'vmcp.spec.telemetry-config-ref-namespace':
        'spec.telemetryConfigRef refers to an MCPTelemetryConfig of the same namespace only',
    },
  },
  {
    source: 'vmcp spec §2 spec',
    says: {
      'vmcp.spec.group-ref-namespace': 'the MCPGroup of spec.groupRef must exist in the same namespace',
      'vmcp.spec.incoming-auth-precedence': 'spec.incomingAuth takes precedence over config.incomingAuth',
      'vmcp.spec.auth-server-config-absent': 'without spec.authServerConfig an external identity provider is used',
      'vmcp.spec.embedding-server-ref-optimizer': 'spec.embeddingServerRef is required when the optimizer is enabled',
      'vmcp.spec.embedding-server-ref-ready': 'the referenced EmbeddingServer must be ready',
      'vmcp.spec.outgoing-auth-precedence': 'spec.outgoingAuth takes precedence over config.outgoingAuth',
      'vmcp.spec.passthrough-headers':
        'spec.passthroughHeaders is string[] and takes precedence over config.passthroughHeaders',
      'vmcp.spec.session-storage-absent': 'without spec.sessionStorage no session storage is configured',
    },
  },
  {
    source: 'vmcp spec §2 spec.incomingAuth',
    says: {
      'vmcp.incoming-auth.type': 'spec.incomingAuth.type is required and anonymous or oidc',
      'vmcp.incoming-auth.oidc-config-ref-name':
        'oidcConfigRef.name is required with at least 1 character and names an MCPOIDCConfig of the namespace',
      'vmcp.incoming-auth.oidc-config-ref-audience': 'oidcConfigRef.audience is required with at least 1 character',
      'vmcp.incoming-auth.oidc-config-ref-scopes': 'oidcConfigRef.scopes is string[] with [openid] by default',
      'vmcp.incoming-auth.authz-exclusive': 'authzConfig and authzConfigRef exclude each other',
      'vmcp.incoming-auth.authz-config-ref-name': 'authzConfigRef.name is required with at least 1 character',
      'vmcp.authz-config.type': 'authzConfig.type is required and configMap or inline, configMap by default',
      'vmcp.authz-config.variants':
        'authzConfig.configMap is used with type configMap and authzConfig.inline with type inline',
      'vmcp.authz-config.config-map-name': 'authzConfig.configMap.name is required',
      'vmcp.authz-config.config-map-key': 'authzConfig.configMap.key is authz.json by default',
      'vmcp.authz-config.inline-policies': 'authzConfig.inline.policies is a required string[]',
      'vmcp.authz-config.inline-entities-json': 'authzConfig.inline.entitiesJson is [] by default',
      'vmcp.authz-config.inline-primary-upstream-provider':
        'inline.primaryUpstreamProvider is a DNS label of 1 to 63 characters',
      'vmcp.authz-config.group-claim-name': 'groupClaimName has at most 253 characters',
      'vmcp.authz-config.group-entity-type':
        'groupEntityType is letters, digits and underscore, starts with letter or underscore, at most 63 characters',
      'vmcp.authz-config.group-entity-type-no-namespace': 'a namespaced groupEntityType is refused',
      'vmcp.authz-config.role-claim-name': 'roleClaimName has at most 253 characters',
    },
  },
  {
    source: 'vmcp spec §2 spec.incomingAuth',
    says: {
      'vmcp.incoming-auth.oidc-config-ref-scopes-advertised':
        'oidcConfigRef.scopes are advertised in the well-known metadata (RFC 9728)',
      'vmcp.incoming-auth.oidc-config-ref-resource-url-public':
        'oidcConfigRef.resourceUrl is the public URL of the protected resource metadata',
      'vmcp.incoming-auth.oidc-config-ref-resource-url':
        'oidcConfigRef.resourceUrl defaults to the internal service URL',
      'vmcp.incoming-auth.authz-config-ref-variant':
        'authzConfigRef supports only the variant cedarv1, any other fails reconciliation',
      'vmcp.authz-config.inline-primary-upstream-provider-deprecated':
        'inline.primaryUpstreamProvider is deprecated and still read for one release',
      'vmcp.authz-config.group-claim-name-defaults':
        'groupClaimName overrides the well-known claims groups, roles and cognito:groups',
      'vmcp.authz-config.group-entity-type-default': 'groupEntityType is THVGroup when empty',
      'vmcp.authz-config.config-map-overridden':
        'the three claim fields override the entries of the ConfigMap when both are set',
    },
  },
  {
    source: 'vmcp spec §2 spec.incomingAuth',
    says: {
      'vmcp.incoming-auth.oidc-config-ref-audience-unique': 'oidcConfigRef.audience must be unique per server',
    },
  },
  {
    source: 'vmcp spec §2 spec.outgoingAuth',
    says: {
      'vmcp.outgoing-auth.source': 'spec.outgoingAuth.source is discovered or inline, discovered by default',
      'vmcp.outgoing-auth.default-type': 'default.type is required and discovered or externalAuthConfigRef',
      'vmcp.outgoing-auth.default-ref-name':
        'default.externalAuthConfigRef.name is required when the type is externalAuthConfigRef',
      'vmcp.outgoing-auth.backends-ref':
        'a backends entry of type externalAuthConfigRef takes its own externalAuthConfigRef object',
      'vmcp.outgoing-auth.backends-type': 'the type of a backends entry is discovered or externalAuthConfigRef',
    },
  },
  {
    source: 'vmcp spec §2 spec.outgoingAuth',
    says: {
      'vmcp.outgoing-auth.source-discovered': 'discovered takes the external auth config reference of each backend',
      'vmcp.outgoing-auth.source-inline': 'inline takes the explicit configuration per backend',
      'vmcp.outgoing-auth.backends': 'backends overrides single backends in every mode',
    },
  },
  {
    source: 'vmcp spec §2 spec.sessionStorage',
    says: {
      'vmcp.session-storage.provider': 'sessionStorage.provider is required and memory or redis',
      'vmcp.session-storage.address':
        'sessionStorage.address has at least 1 character and is required when the provider is redis',
      'vmcp.session-storage.db': 'sessionStorage.db is an int32 of at least 0, 0 by default',
      'vmcp.session-storage.key-prefix': 'sessionStorage.keyPrefix is a string',
      'vmcp.session-storage.password-ref': 'sessionStorage.passwordRef holds the required name and key of a secret',
    },
  },
  {
    source: 'vmcp spec §2 spec.telemetryConfigRef',
    says: {
      'vmcp.telemetry-config-ref.service-name-default':
        'telemetryConfigRef.serviceName defaults to a fixed prefix plus the server name',
      'vmcp.telemetry-config-ref.name': 'telemetryConfigRef.name is required with at least 1 character',
    },
  },
  {
    source: 'vmcp spec §2 spec.telemetryConfigRef',
    says: {
      'vmcp.telemetry-config-ref.service-name-unique': 'telemetryConfigRef.serviceName must be unique per server',
    },
  },
] as const satisfies readonly Section[];
