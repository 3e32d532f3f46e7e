import type { Section } from '../section.ts';

/** The embedded authorization server: its own settings, storage and lifetimes. */
export const authServer = [
  {
    source: 'vmcp spec §2 spec.authServerConfig',
    says: {
      'vmcp.auth-server.own-tokens':
        'the embedded authorization server issues tokens that the incoming authentication of its own server accepts',
      'vmcp.auth-server.issuer': 'issuer is required and an issuer-style URL',
      'vmcp.auth-server.issuer-https': 'issuer is https, or http for localhost',
      'vmcp.auth-server.issuer-in-cluster-http':
        'issuer may be http for trusted in-cluster hosts when insecureAllowHTTP is true',
      'vmcp.auth-server.upstream-providers': 'upstreamProviders is required and may hold several entries',
      'vmcp.auth-server.authorization-endpoint-base-url': 'authorizationEndpointBaseUrl is an issuer-style URL',
      'vmcp.auth-server.disable-upstream-token-injection': 'disableUpstreamTokenInjection is false by default',
      'vmcp.auth-server.disable-upstream-token-injection-strips':
        'with it Authorization, Cookie and Proxy-Authorization are stripped after the JWT was validated',
      'vmcp.auth-server.disable-upstream-token-injection-unauthenticated':
        'with it the backend receives an unauthenticated request',
      'vmcp.auth-server.disable-upstream-token-injection-exclusive':
        'with it token exchange and AWS STS outgoing auth are refused',
      'vmcp.auth-server.hmac-secret-refs': 'hmacSecretRefs lists objects of name and key',
      'vmcp.auth-server.insecure-allow-http':
        'insecureAllowHTTP is false by default and rejects http issuers of non-localhost hosts',
      'vmcp.auth-server.primary-upstream-provider':
        'primaryUpstreamProvider is a DNS label of 1 to 63 characters and names an upstream provider',
      'vmcp.auth-server.primary-upstream-provider-default':
        'an empty primaryUpstreamProvider selects the first upstream',
      'vmcp.auth-server.primary-upstream-provider-unresolvable':
        'an unresolvable primaryUpstreamProvider is rejected at admission',
      'vmcp.auth-server.primary-upstream-provider-ended':
        'a person whose session at the primary provider has ended gets the link to it from calls and lists, not a denial',
      'vmcp.auth-server.primary-upstream-provider-claims':
        'the policy reads claims from the access token of the primary upstream',
      'vmcp.auth-server.storage-type': 'storage.type is memory or redis, memory by default',
      'vmcp.auth-server.storage-redis-required': 'storage.redis is required when the type is redis',
      'vmcp.auth-server.access-token-lifespan': 'tokenLifespans.accessTokenLifespan is 1h by default',
      'vmcp.auth-server.refresh-token-lifespan': 'tokenLifespans.refreshTokenLifespan is 168h by default',
      'vmcp.auth-server.auth-code-lifespan': 'tokenLifespans.authCodeLifespan is 10m by default',
      'vmcp.auth-server.lifespans-durations': 'each token lifespan is a Go duration string',
    },
  },
  {
    source: 'vmcp spec §2 spec.authServerConfig',
    says: {
      'vmcp.auth-server.baseline-client-scopes': 'baselineClientScopes are added to every RFC 7591 registration',
      'vmcp.auth-server.baseline-client-scopes-supported':
        'a baseline scope outside the upstream-derived supported scopes stops the server at start',
      'vmcp.auth-server.baseline-client-scopes-request':
        'every dynamically registered client and CIMD client may request the baseline scopes',
      'vmcp.auth-server.cimd-absent': 'client ID metadata documents are disabled when cimd is omitted',
      'vmcp.auth-server.cimd.enabled': 'cimd.enabled is required and false by default',
      'vmcp.auth-server.cimd.disabled-dcr-only':
        'with cimd.enabled false only dynamically registered client IDs are accepted',
      'vmcp.auth-server.cimd.cache-fallback-ttl': 'cimd.cacheFallbackTtl is a Go duration, 5m by default when enabled',
      'vmcp.auth-server.cimd.cache-max-size':
        'cimd.cacheMaxSize is an integer of at least 1, 256 by default when enabled',
    },
  },
  {
    source: 'vmcp spec §2 spec.authServerConfig',
    says: {
      'vmcp.auth-server.authorization-endpoint-advertised':
        'with authorizationEndpointBaseUrl the discovery document advertises {value}/oauth/authorize',
      'vmcp.auth-server.other-endpoints-issuer':
        'authorizationEndpointBaseUrl leaves the other endpoints derived from the issuer',
      'vmcp.auth-server.hmac-secret-length': 'the current HMAC secret has at least 32 random bytes',
      'vmcp.auth-server.hmac-secret-first-current': 'the first HMAC secret signs and the others verify',
      'vmcp.auth-server.hmac-secret-ephemeral':
        'without hmacSecretRefs an ephemeral secret is generated and codes and refresh tokens die on restart',
      'vmcp.auth-server.signing-key-secret-refs':
        'signingKeySecretRefs lists objects of name and key, older ones only verify',
      'vmcp.auth-server.signing-key-ephemeral': 'without signingKeySecretRefs an ephemeral key is used',
    },
  },
  {
    source: 'vmcp spec §2 spec.authServerConfig',
    says: {
      'vmcp.auth-server.redis.acl-user-config': 'storage.redis.aclUserConfig is required',
      'vmcp.auth-server.redis.acl-password': 'aclUserConfig.passwordSecretRef is required with name and key',
      'vmcp.auth-server.redis.acl-username':
        'aclUserConfig.usernameSecretRef holds name and key, and without it password-only AUTH is used',
      'vmcp.auth-server.redis.addr': 'redis.addr is host:port and required for standalone and cluster modes',
      'vmcp.auth-server.redis.addr-exclusive': 'redis.addr and redis.sentinelConfig exclude each other',
      'vmcp.auth-server.redis.cluster-mode': 'redis.clusterMode is a boolean that requires addr',
      'vmcp.auth-server.redis.dial-timeout': 'redis.dialTimeout is a Go duration, 5s by default',
      'vmcp.auth-server.redis.read-timeout': 'redis.readTimeout is 3s by default',
      'vmcp.auth-server.redis.write-timeout': 'redis.writeTimeout is 3s by default',
      'vmcp.auth-server.redis.sentinel-master-name': 'sentinelConfig.masterName is required',
      'vmcp.auth-server.redis.sentinel-db': 'sentinelConfig.db is an int32, 0 by default',
      'vmcp.auth-server.redis.sentinel-addrs':
        'sentinelConfig.sentinelAddrs is host:port[] and excludes sentinelService',
      'vmcp.auth-server.redis.sentinel-service-name': 'sentinelService.name is required',
      'vmcp.auth-server.redis.sentinel-service-namespace': 'sentinelService.namespace is the same namespace by default',
      'vmcp.auth-server.redis.sentinel-service-port': 'sentinelService.port is an int32, 26379 by default',
      'vmcp.auth-server.redis.tls-ca':
        'tls and sentinelTls hold caCertSecretRef with name and key, system roots when absent',
      'vmcp.auth-server.redis.tls-skip-verify': 'tls and sentinelTls hold insecureSkipVerify as a boolean',
      'vmcp.auth-server.redis.tls-presence': 'the presence of tls turns TLS on to the master or cluster',
      'vmcp.auth-server.redis.sentinel-tls-only': 'sentinelTls applies only with sentinelConfig',
    },
  },
  {
    source: 'vmcp spec §2 spec.authServerConfig',
    says: {
      'vmcp.auth-server.insecure-allow-http-condition':
        'a rejected http issuer shows as condition AuthServerConfigValidated False',
    },
  },
] as const satisfies readonly Section[];
