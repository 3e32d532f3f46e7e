import { OIDC, type RuleCase, SECRET, type Spec, server } from './server-cases.ts';

export const OIDC_PROVIDER = {
  name: 'idp',
  type: 'oidc',
  oidcConfig: { issuerUrl: 'https://idp.example.com', clientId: 'a' },
};
const OAUTH2 = {
  authorizationEndpoint: 'https://idp.example.com/authorize',
  tokenEndpoint: 'https://idp.example.com/token',
  clientId: 'a',
};

/** An authorization server, and changes. */
export const authServer = (changes: Spec = {}): Spec =>
  server({
    incomingAuth: OIDC,
    authServerConfig: { issuer: 'https://auth.example.com', upstreamProviders: [OIDC_PROVIDER], ...changes },
  });
const provider = (changes: Spec): Spec => authServer({ upstreamProviders: [{ ...OIDC_PROVIDER, ...changes }] });
export const oauth2 = (changes: Spec): Spec =>
  authServer({ upstreamProviders: [{ name: 'idp', type: 'oauth2', oauth2Config: { ...OAUTH2, ...changes } }] });
export const redisStorage = (changes: Spec): Spec =>
  authServer({ storage: { type: 'redis', redis: { aclUserConfig: { passwordSecretRef: SECRET }, ...changes } } });

const SENTINEL = { masterName: 'main', sentinelAddrs: ['sentinel:26379'] };
const DCR = {
  clientId: undefined,
  dcrConfig: { discoveryUrl: 'https://idp.example.com/.well-known/openid-configuration' },
};
const PROVIDER = 'spec.authServerConfig.upstreamProviders[0]';
const REDIS_PATH = 'spec.authServerConfig.storage.redis';

/** Rules of `spec.authServerConfig`. */
export const AUTH_SERVER_CASES: readonly RuleCase[] = [
  {
    says: 'primaryUpstreamProvider must be the name of one of upstreamProviders',
    at: 'spec.authServerConfig.primaryUpstreamProvider',
    accepts: authServer({ primaryUpstreamProvider: 'idp' }),
    refuses: authServer({ primaryUpstreamProvider: 'other' }),
  },
  {
    says: 'oidcConfig must be set when type is oidc, and only then',
    at: `${PROVIDER}.oidcConfig`,
    accepts: provider({}),
    refuses: provider({ oidcConfig: undefined }),
  },
  {
    says: 'oauth2Config must be set when type is oauth2, and only then',
    at: `${PROVIDER}.oauth2Config`,
    accepts: oauth2({}),
    refuses: provider({ oauth2Config: OAUTH2 }),
  },
  {
    says: 'issuerUrl must be an https URL',
    at: `${PROVIDER}.oidcConfig.issuerUrl`,
    accepts: provider({ insecureAllowHTTP: true, oidcConfig: { issuerUrl: 'http://idp.example.com', clientId: 'a' } }),
    refuses: provider({ oidcConfig: { issuerUrl: 'http://idp.example.com', clientId: 'a' } }),
  },
  {
    says: 'discoveryUrl must be an https URL',
    at: `${PROVIDER}.oauth2Config.dcrConfig.discoveryUrl`,
    accepts: oauth2(DCR),
    refuses: oauth2({ ...DCR, dcrConfig: { discoveryUrl: 'http://idp.example.com/d' } }),
  },
  {
    says: 'registrationEndpoint must be an https URL',
    at: `${PROVIDER}.oauth2Config.dcrConfig.registrationEndpoint`,
    accepts: oauth2({ ...DCR, scopes: ['a'], dcrConfig: { registrationEndpoint: 'https://idp.example.com/r' } }),
    refuses: oauth2({ ...DCR, scopes: ['a'], dcrConfig: { registrationEndpoint: 'http://idp.example.com/r' } }),
  },
  {
    says: 'exactly one of discoveryUrl and registrationEndpoint must be set',
    at: `${PROVIDER}.oauth2Config.dcrConfig.discoveryUrl`,
    accepts: oauth2(DCR),
    refuses: oauth2({
      ...DCR,
      scopes: ['a'],
      dcrConfig: { discoveryUrl: 'https://idp.example.com/d', registrationEndpoint: 'https://idp.example.com/r' },
    }),
  },
  {
    says: 'exactly one of clientId and dcrConfig must be set',
    at: `${PROVIDER}.oauth2Config.clientId`,
    accepts: oauth2(DCR),
    refuses: oauth2({ ...DCR, clientId: 'a' }),
  },
  {
    says: 'clientSecretRef must be absent when dcrConfig is set',
    at: `${PROVIDER}.oauth2Config.clientSecretRef`,
    accepts: oauth2({ clientSecretRef: SECRET }),
    refuses: oauth2({ ...DCR, clientSecretRef: SECRET }),
  },
  {
    says: 'authorizationEndpoint is required unless dcrConfig.discoveryUrl is set',
    at: `${PROVIDER}.oauth2Config.authorizationEndpoint`,
    accepts: oauth2({ ...DCR, authorizationEndpoint: undefined }),
    refuses: oauth2({ authorizationEndpoint: undefined }),
  },
  {
    says: 'tokenEndpoint is required unless dcrConfig.discoveryUrl is set',
    at: `${PROVIDER}.oauth2Config.tokenEndpoint`,
    accepts: oauth2({ ...DCR, tokenEndpoint: undefined }),
    refuses: oauth2({ tokenEndpoint: undefined }),
  },
  {
    says: 'scopes are required with dcrConfig.registrationEndpoint',
    at: `${PROVIDER}.oauth2Config.scopes`,
    accepts: oauth2({ ...DCR, scopes: ['a'], dcrConfig: { registrationEndpoint: 'https://idp.example.com/r' } }),
    refuses: oauth2({ ...DCR, dcrConfig: { registrationEndpoint: 'https://idp.example.com/r' } }),
  },
  {
    says: 'must not contain response_type, client_id',
    at: `${PROVIDER}.oauth2Config.additionalAuthorizationParams`,
    accepts: oauth2({ additionalAuthorizationParams: { prompt: 'consent' } }),
    refuses: oauth2({ additionalAuthorizationParams: { state: 'fixed' } }),
  },
  {
    says: 'must not contain response_type, client_id',
    at: `${PROVIDER}.oidcConfig.additionalAuthorizationParams`,
    accepts: provider({
      oidcConfig: { ...OIDC_PROVIDER.oidcConfig, additionalAuthorizationParams: { access_type: 'offline' } },
    }),
    refuses: provider({ oidcConfig: { ...OIDC_PROVIDER.oidcConfig, additionalAuthorizationParams: { nonce: 'a' } } }),
  },
  {
    says: 'redis must be set when type is redis, and only then',
    at: 'spec.authServerConfig.storage.redis',
    accepts: authServer({ storage: { type: 'memory' } }),
    refuses: authServer({ storage: { type: 'redis' } }),
  },
  {
    says: 'exactly one of addr and sentinelConfig must be set',
    at: `${REDIS_PATH}.addr`,
    accepts: redisStorage({ addr: 'redis:6379' }),
    refuses: redisStorage({ addr: 'redis:6379', sentinelConfig: SENTINEL }),
  },
  {
    says: 'clusterMode requires addr',
    at: `${REDIS_PATH}.clusterMode`,
    accepts: redisStorage({ addr: 'redis:6379', clusterMode: true }),
    refuses: redisStorage({ clusterMode: true, sentinelConfig: SENTINEL }),
  },
  {
    says: 'sentinelTls requires sentinelConfig',
    at: `${REDIS_PATH}.sentinelTls`,
    accepts: redisStorage({ sentinelConfig: SENTINEL, sentinelTls: {} }),
    refuses: redisStorage({ addr: 'redis:6379', sentinelTls: {} }),
  },
  {
    says: 'exactly one of sentinelAddrs and sentinelService must be set',
    at: `${REDIS_PATH}.sentinelConfig.sentinelAddrs`,
    accepts: redisStorage({ sentinelConfig: { masterName: 'main', sentinelService: { name: 'sentinel' } } }),
    refuses: redisStorage({ sentinelConfig: { ...SENTINEL, sentinelService: { name: 'sentinel' } } }),
  },
].map((each) => ({ kind: 'VirtualMCPServer', ...each }));
