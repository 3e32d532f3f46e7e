import { isObject } from '@toolmgr/core';
import {
  type Addition,
  durationRule,
  type FromCluster,
  MAX_DURATION,
  ofSection,
  onlyWithType,
  type Rule,
} from '@toolmgr/plugins/kit/kubernetes';
import { OWN_PARAMETERS } from './upstreams/own-parameters.ts';

const WEB_URL = '^https?://[^\\s#]+$';
const ISSUER = '^https?://[^?#\\s]*[^?#\\s/]$';

const authorizationParams: Addition = {
  maxProperties: 100,
  rules: [
    {
      rule: OWN_PARAMETERS.map((name) => `!('${name}' in self)`).join(' && '),
      message: `must not contain ${OWN_PARAMETERS.join(', ')}, which the server sets itself`,
    },
  ],
};

/** https, or http on the same machine, or what `insecureAllowHTTP` of the provider allows. */
function isHttps(value: string): string {
  return `self.insecureAllowHTTP || ${value}.matches('^(https://|http://(localhost|127\\\\.|\\\\[::1\\\\]))')`;
}

const PROVIDER_RULES: readonly Rule[] = [
  onlyWithType('oidcConfig', 'oidc'),
  onlyWithType('oauth2Config', 'oauth2'),
  {
    rule: `!has(self.oidcConfig) || ${isHttps('self.oidcConfig.issuerUrl')}`,
    message: 'issuerUrl must be an https URL',
    fieldPath: '.oidcConfig.issuerUrl',
  },
  ...['discoveryUrl', 'registrationEndpoint'].map((key) => {
    const place = `self.oauth2Config.dcrConfig`;
    return {
      rule: `!has(self.oauth2Config) || !has(${place}) || !has(${place}.${key}) || ${isHttps(`${place}.${key}`)}`,
      message: `${key} must be an https URL`,
      fieldPath: `.oauth2Config.dcrConfig.${key}`,
    };
  }),
];

const OAUTH2_RULES: readonly Rule[] = [
  {
    rule: "(has(self.clientId) && self.clientId != '') != has(self.dcrConfig)",
    message: 'exactly one of clientId and dcrConfig must be set',
    fieldPath: '.clientId',
  },
  {
    rule: '!(has(self.clientSecretRef) && has(self.dcrConfig))',
    message: 'clientSecretRef must be absent when dcrConfig is set',
    fieldPath: '.clientSecretRef',
    reason: 'FieldValueForbidden',
  },
  ...['authorizationEndpoint', 'tokenEndpoint'].map(
    (key): Rule => ({
      rule: `has(self.${key}) || (has(self.dcrConfig) && has(self.dcrConfig.discoveryUrl))`,
      message: `${key} is required unless dcrConfig.discoveryUrl is set`,
      fieldPath: `.${key}`,
      reason: 'FieldValueRequired',
    }),
  ),
  {
    rule: '!has(self.dcrConfig) || !has(self.dcrConfig.registrationEndpoint) || (has(self.scopes) && size(self.scopes) > 0)',
    message: 'scopes are required with dcrConfig.registrationEndpoint',
    fieldPath: '.scopes',
    reason: 'FieldValueRequired',
  },
];

const REDIS_RULES: readonly Rule[] = [
  {
    rule: 'has(self.addr) != has(self.sentinelConfig)',
    message: 'exactly one of addr and sentinelConfig must be set',
    fieldPath: '.addr',
  },
  {
    rule: '!self.clusterMode || has(self.addr)',
    message: 'clusterMode requires addr',
    fieldPath: '.clusterMode',
  },
  {
    rule: '!has(self.sentinelTls) || has(self.sentinelConfig)',
    message: 'sentinelTls requires sentinelConfig',
    fieldPath: '.sentinelTls',
  },
];

const userInfo: Addition = { pattern: WEB_URL };

const lifespan = (least: string, most: string): Addition => ({
  maxLength: MAX_DURATION,
  rules: [durationRule(least, most)],
});

/** Rules of the contract for `authServerConfig` in objects. Source: vmcp spec §2 `spec.authServerConfig`. */
export const rules: FromCluster['rules'] = {
  namedSecrets: true,
  within: {
    '': {
      rules: [
        {
          rule: '!has(self.primaryUpstreamProvider) || self.upstreamProviders.exists(p, p.name == self.primaryUpstreamProvider)',
          message: 'primaryUpstreamProvider must be the name of one of upstreamProviders',
          fieldPath: '.primaryUpstreamProvider',
        },
      ],
    },
    issuer: { pattern: ISSUER, maxLength: 2048 },
    authorizationEndpointBaseUrl: { pattern: ISSUER, maxLength: 2048 },
    primaryUpstreamProvider: { pattern: '^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$', minLength: 1, maxLength: 63 },
    baselineClientScopes: { maxItems: 100 },
    'tokenLifespans.accessTokenLifespan': lifespan('1m', '24h'),
    'tokenLifespans.refreshTokenLifespan': lifespan('1h', '720h'),
    'tokenLifespans.authCodeLifespan': lifespan('30s', '10m'),
    delegationTokenLifespan: lifespan('1ns', '24h'),
    delegateClients: { listMapKeys: ['clientId'] },
    trustedIssuers: { listMapKeys: ['issuer'] },
    upstreamProviders: { listMapKeys: ['name'] },
    'upstreamProviders.[]': { rules: PROVIDER_RULES },
    'upstreamProviders.[].name': { minLength: 1, maxLength: 63 },
    'upstreamProviders.[].oidcConfig.issuerUrl': { pattern: WEB_URL },
    'upstreamProviders.[].oidcConfig.redirectUri': { pattern: WEB_URL },
    'upstreamProviders.[].oidcConfig.additionalAuthorizationParams': authorizationParams,
    'upstreamProviders.[].oidcConfig.userInfoOverride.endpointUrl': userInfo,
    'upstreamProviders.[].oauth2Config': { rules: OAUTH2_RULES },
    'upstreamProviders.[].oauth2Config.clientId': { maxLength: 2048 },
    'upstreamProviders.[].oauth2Config.authorizationEndpoint': { pattern: WEB_URL },
    'upstreamProviders.[].oauth2Config.tokenEndpoint': { pattern: WEB_URL },
    'upstreamProviders.[].oauth2Config.redirectUri': { pattern: WEB_URL },
    'upstreamProviders.[].oauth2Config.additionalAuthorizationParams': authorizationParams,
    'upstreamProviders.[].oauth2Config.userInfo.endpointUrl': userInfo,
    'upstreamProviders.[].oauth2Config.dcrConfig': {
      rules: [
        {
          rule: 'has(self.discoveryUrl) != has(self.registrationEndpoint)',
          message: 'exactly one of discoveryUrl and registrationEndpoint must be set',
          fieldPath: '.discoveryUrl',
        },
      ],
    },
    'upstreamProviders.[].oauth2Config.dcrConfig.discoveryUrl': { pattern: '^https?://[^\\s#]*[^\\s#/]$' },
    'upstreamProviders.[].oauth2Config.dcrConfig.registrationEndpoint': { pattern: WEB_URL },
    storage: {
      rules: [onlyWithType('redis')],
    },
    'storage.redis': { rules: REDIS_RULES },
    'storage.redis.addr': { minLength: 1, maxLength: 512, pattern: '^[^@]+:[0-9]+$' },
    'storage.redis.sentinelConfig': {
      rules: [
        {
          rule: 'has(self.sentinelAddrs) != has(self.sentinelService)',
          message: 'exactly one of sentinelAddrs and sentinelService must be set',
          fieldPath: '.sentinelAddrs',
        },
      ],
    },
  },
};

export const externalAuth: FromCluster['externalAuth'] = {
  embeddedAuthServer: {
    order: 5,
    schema: ofSection('authServerConfig').describe('an authorization server, for MCPServer and MCPRemoteProxy'),
  },
};

/** The condition `IdentitySynthesized`: an OAuth 2.0 provider without user info gives people a subject made from their token. */
export const conditions: FromCluster['conditions'] = (section) => {
  const type = 'IdentitySynthesized';
  const providers = isObject(section) && Array.isArray(section.upstreamProviders) ? section.upstreamProviders : [];
  const names = providers.flatMap((each: unknown) => {
    if (!isObject(each) || !isObject(each.oauth2Config)) return [];
    const { userInfo, identityFromToken } = each.oauth2Config;
    return userInfo === undefined && identityFromToken === undefined ? [String(each.name)] : [];
  });
  if (names.length === 0) {
    const message = 'every provider says who signed in';
    return [{ type, status: 'False', reason: 'AllUpstreamsHaveUserInfo', message }];
  }
  const message = `without userInfo and identityFromToken people get a subject made from their token, without name and email: ${names.join(', ')}`;
  return [{ type, status: 'True', reason: 'OAuth2UpstreamWithoutUserInfo', message }];
};
