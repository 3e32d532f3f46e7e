import type { Section } from '../section.ts';

/** Incoming and outgoing authentication inside the configuration. */
export const credentials = [
  {
    source: 'vmcp spec §2 incomingAuth (inside config)',
    says: {
      'vmcp.config-incoming.type-required': 'incomingAuth.type is required',
      'vmcp.config-incoming.type-anonymous': 'type anonymous lets every caller in without credentials',
    },
  },
  {
    source: 'vmcp spec §2 incomingAuth (inside config)',
    says: {
      'vmcp.config-incoming.type-oidc': 'incomingAuth.type takes oidc',
      'vmcp.config-incoming.type-local': 'incomingAuth.type takes local',
      'vmcp.config-incoming.oidc-issuer': 'oidc.issuer is a required http or https URL',
      'vmcp.config-incoming.oidc-client-id': 'oidc.clientId is required',
      'vmcp.config-incoming.oidc-audience': 'oidc.audience is required',
      'vmcp.config-incoming.oidc-client-secret-env':
        'oidc.clientSecretEnv names the environment variable that holds the secret',
      'vmcp.config-incoming.oidc-scopes': 'oidc.scopes is string[]',
      'vmcp.config-incoming.oidc-resource': 'oidc.resource is the RFC 8707 resource and defaults to the audience',
      'vmcp.config-incoming.oidc-introspection-url': 'oidc.introspectionUrl validates opaque tokens by RFC 7662',
      'vmcp.config-incoming.oidc-jwks-url': 'oidc.jwksUrl skips discovery',
      'vmcp.config-incoming.oidc-ca-bundle-path': 'oidc.caBundlePath is a path',
      'vmcp.config-incoming.oidc-insecure-allow-http': 'oidc.insecureAllowHttp is a boolean',
      'vmcp.config-incoming.oidc-jwks-allow-private-ip': 'oidc.jwksAllowPrivateIp is a boolean',
      'vmcp.config-incoming.oidc-protected-resource-allow-private-ip':
        'oidc.protectedResourceAllowPrivateIp is a boolean',
    },
  },
  {
    source: 'vmcp spec §2 incomingAuth (inside config)',
    says: {
      'vmcp.config-incoming.authz-type': 'authz.type is required and cedar or none',
      'vmcp.config-incoming.authz-policies': 'authz.policies is string[]',
      'vmcp.config-incoming.authz-entities-json': 'authz.entitiesJson is [] by default',
      'vmcp.config-incoming.authz-group-claim-name': 'authz.groupClaimName is a string',
      'vmcp.config-incoming.authz-group-entity-type': 'authz.groupEntityType is THVGroup by default',
      'vmcp.config-incoming.authz-role-claim-name': 'authz.roleClaimName is a string',
      'vmcp.config-incoming.authz-primary-upstream-provider-empty':
        'an empty authz.primaryUpstreamProvider takes the claims of the issued token',
      'vmcp.config-incoming.authz-primary-upstream-provider':
        'authz.primaryUpstreamProvider selects the upstream token whose claims count',
    },
  },
  {
    source: 'vmcp spec §2 outgoingAuth (inside config)',
    says: {
      'vmcp.config-outgoing.source-required': 'outgoingAuth.source is required',
      'vmcp.config-outgoing.default': 'outgoingAuth.default is the strategy of backends without an entry of their own',
      'vmcp.config-outgoing.backends': 'outgoingAuth.backends maps a backend to its strategy and wins over default',
      'vmcp.config-outgoing.type-required': 'type is required in every strategy object',
      'vmcp.config-outgoing.type-unauthenticated': 'type unauthenticated sends no credential',
      'vmcp.config-outgoing.type-header-injection': 'type header_injection uses the sub-object headerInjection',
      'vmcp.config-outgoing.header-name': 'headerInjection.headerName is required',
      'vmcp.config-outgoing.header-value': 'headerInjection.headerValue is sent as it stands',
      'vmcp.config-outgoing.header-value-env':
        'headerInjection.headerValueEnv names the environment variable whose value is sent',
      'vmcp.config-outgoing.header-one-value': 'headerInjection takes exactly one of headerValue and headerValueEnv',
      'vmcp.config-outgoing.backends-same-fields': 'a backends entry takes the same sub-object fields as default',
      'vmcp.config-outgoing.type-token-exchange': 'type token_exchange uses the sub-object tokenExchange',
      'vmcp.token-exchange.token-url': 'tokenExchange.tokenUrl is required',
      'vmcp.token-exchange.strings': 'tokenExchange has audience, clientId, clientSecret and clientSecretEnv',
      'vmcp.token-exchange.scopes': 'tokenExchange.scopes is string[]',
      'vmcp.token-exchange.subject-token-type':
        'tokenExchange.subjectTokenType is urn:ietf:params:oauth:token-type:access_token by default',
      'vmcp.upstream-inject.provider-name':
        'upstreamInject.providerName is required and matches an embedded server upstream',
      'vmcp.token-exchange.subject-provider-name':
        'tokenExchange.subjectProviderName selects the upstream token used as subject',
      'vmcp.token-exchange.subject-provider-name-filled':
        'tokenExchange.subjectProviderName is the first upstream when an embedded server exists',
      'vmcp.aws-sts.subject-provider-name':
        'awsSts.subjectProviderName selects the upstream token used as web identity token',
      'vmcp.aws-sts.subject-provider-claims':
        'with awsSts.subjectProviderName the role and the session name come from the claims of that token',
      'vmcp.obo.enterprise-required': 'the default build answers the obo strategy with an enterprise-required error',
    },
  },
  {
    source: 'vmcp spec §2 outgoingAuth (inside config)',
    says: {
      'vmcp.aws-sts.region': 'awsSts.region is required',
      'vmcp.aws-sts.fallback-role-arn': 'awsSts.fallbackRoleArn is a string',
      'vmcp.aws-sts.role-claim': 'awsSts.roleClaim is a string',
      'vmcp.aws-sts.role-mappings':
        'awsSts.roleMappings lists objects of required roleArn, claim, matcher and priority',
      'vmcp.aws-sts.role-mappings-matcher': 'roleMappings[].matcher is a CEL expression',
      'vmcp.aws-sts.role-mappings-priority': 'roleMappings[].priority is an integer and the lower one goes first',
      'vmcp.aws-sts.service': 'awsSts.service is the name of the signing service',
      'vmcp.aws-sts.session-duration': 'awsSts.sessionDuration is an int32 of seconds',
      'vmcp.aws-sts.session-name-claim': 'awsSts.sessionNameClaim is a string',
    },
  },
  {
    source: 'vmcp spec §2 outgoingAuth (inside config)',
    says: {
      'vmcp.config-outgoing.type-others':
        'type also takes upstream_inject, aws_sts, obo and xaa with sub-objects of those names in camel case',
      'vmcp.obo.token-url': 'obo.tokenUrl is required',
      'vmcp.obo.strings': 'obo has audience, clientId, clientSecret, clientSecretEnv and scopes',
      'vmcp.obo.cache-skew-seconds': 'obo.cacheSkewSeconds is an int32, 0 by default',
      'vmcp.obo.subject-token-provider-name':
        'obo.subjectTokenProviderName selects the assertion, the inbound user token by default',
      'vmcp.xaa.idp-token-url': 'xaa.idpTokenUrl is required',
      'vmcp.xaa.target-audience': 'xaa.targetAudience is required',
      'vmcp.xaa.target-token-url': 'xaa.targetTokenUrl is required',
      'vmcp.xaa.idp-client': 'xaa has idpClientId, idpClientSecret and idpClientSecretEnv',
      'vmcp.xaa.target-client': 'xaa has targetClientId, targetClientSecret and targetClientSecretEnv',
      'vmcp.xaa.target-resource':
        'xaa.targetResource is the RFC 8707 resource of the exchange with the identity provider',
      'vmcp.xaa.scopes': 'xaa.scopes is string[]',
      'vmcp.xaa.subject-provider-name':
        'xaa.subjectProviderName is the source of the ID token and filled with an embedded server',
      'vmcp.xaa.subject-token-type': 'xaa.subjectTokenType is the ID-token URN by default and takes only that',
      'vmcp.xaa.insecure-target-token-url': 'xaa.insecureTargetTokenUrl is a boolean that allows plain HTTP',
    },
  },
] as const satisfies readonly Section[];
