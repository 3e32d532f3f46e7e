import { fieldPath } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { authServerConfig, primaryOf, supportedScopes } from '../../../plugins/auth-server/config.ts';
import { proves } from '../../support/proves.ts';

const provider = (name: string, more: object = {}) => ({
  name,
  type: 'oidc',
  oidcConfig: { issuerUrl: 'https://idp.example.com', clientId: 'gateway' },
  ...more,
});

const section = (more: object = {}) => ({
  issuer: 'https://gateway.example.com',
  allowedAudiences: ['https://gateway.example.com/mcp'],
  upstreamProviders: [provider('corp')],
  ...more,
});

const parse = (more?: object) => authServerConfig.parse(section(more));

/** `path: message` of each problem. */
const problems = (more: object): readonly string[] =>
  (authServerConfig.safeParse(section(more)).error?.issues ?? []).map(
    ({ path, message }) => `${fieldPath(path)}: ${message}`,
  );

const without = (key: string) => {
  const { [key]: _, ...rest } = section() as Record<string, unknown>;
  return authServerConfig.safeParse(rest).success;
};

const HOUR = 3_600_000;

describe('authServerConfig', () => {
  it('has the defaults of the contract', () => {
    expect(parse()).toMatchObject({
      insecureAllowHTTP: false,
      signingKeySecretRefs: [],
      hmacSecretRefs: [],
      baselineClientScopes: [],
      storage: { type: 'memory' },
      upstreamProviders: [{ loginPolicy: 'required' }],
    });
  });

  proves(['vmcp.auth-server.issuer', 'vmcp.notation.issuer-url'], 'needs an issuer-style URL as issuer', () => {
    expect(without('issuer')).toBe(false);
    expect(parse({ issuer: 'https://gateway.example.com/team' }).issuer).toBe('https://gateway.example.com/team');
    for (const issuer of [
      'https://gateway.example.com/',
      'https://gateway.example.com/a/',
      'https://gateway.example.com?a=b',
      'https://gateway.example.com#a',
      'https://me:secret@gateway.example.com',
      'ftp://gateway.example.com',
      'gateway.example.com',
    ]) {
      expect(problems({ issuer }).join(), issuer).toMatch(/^issuer: expected an http or https URL without query/);
    }
  });

  proves(
    ['vmcp.auth-server.issuer-https', 'vmcp.auth-server.insecure-allow-http'],
    'refuses plain http, except for localhost',
    () => {
      for (const issuer of ['http://localhost:4483', 'http://127.0.0.1:4483', 'http://[::1]:4483']) {
        expect(problems({ issuer }), issuer).toEqual([]);
      }
      for (const issuer of ['http://gateway.example.com', 'http://localhost.example.com', 'http://10.0.0.1']) {
        expect(problems({ issuer }).join(), issuer).toMatch(/^issuer: expected https; .*insecureAllowHTTP allows it/);
      }
    },
  );

  proves('vmcp.auth-server.issuer-in-cluster-http', 'allows plain http with insecureAllowHTTP', () => {
    const issuer = 'http://gateway.tools.svc.cluster.local:4483';
    expect(parse({ issuer, insecureAllowHTTP: true }).issuer).toBe(issuer);
  });

  proves(
    'vmcp.auth-server.authorization-endpoint-base-url',
    'reads authorizationEndpointBaseUrl with the rules of the issuer',
    () => {
      expect(problems({ authorizationEndpointBaseUrl: 'https://login.example.com/sso' })).toEqual([]);
      expect(problems({ authorizationEndpointBaseUrl: 'https://login.example.com/' }).join()).toMatch(
        /^authorizationE/,
      );
      expect(problems({ authorizationEndpointBaseUrl: 'http://login.example.com' }).join()).toContain('expected https');
    },
  );

  proves('vmcp.auth-server.upstream-providers', 'needs at least one provider and reads several', () => {
    expect(without('upstreamProviders')).toBe(false);
    expect(problems({ upstreamProviders: [] })).toEqual(['upstreamProviders: expected at least one provider']);
    const upstreamProviders = [provider('corp'), provider('code', { loginPolicy: 'onDemand' })];
    expect(parse({ upstreamProviders }).upstreamProviders.map(({ name }) => name)).toEqual(['corp', 'code']);
  });

  proves(
    'vmcp.auth-server.hmac-secret-refs',
    'reads secrets by name and key, and our own forms variable and file',
    () => {
      const refs = [{ name: 'hmac', key: 'current' }, { env: 'OLD_HMAC' }, { file: '/run/hmac' }];
      const { hmacSecretRefs, signingKeySecretRefs } = parse({ hmacSecretRefs: refs, signingKeySecretRefs: refs });
      expect([hmacSecretRefs, signingKeySecretRefs]).toEqual([refs, refs]);
      expect(problems({ hmacSecretRefs: [{ name: 'hmac' }] })).toEqual([
        'hmacSecretRefs[0].key: missing; name needs it',
      ]);
      expect(problems({ signingKeySecretRefs: [{ name: 'hmac', key: 'a/b' }] }).join()).toContain('[0].key: expected');
    },
  );

  proves(
    ['vmcp.auth-server.primary-upstream-provider', 'vmcp.auth-server.primary-upstream-provider-unresolvable'],
    'refuses a primaryUpstreamProvider that is no provider, with the nearest name',
    () => {
      const upstreamProviders = [provider('corp'), provider('github')];
      expect(primaryOf(parse({ upstreamProviders, primaryUpstreamProvider: 'github' }))).toBe('github');
      expect(problems({ upstreamProviders, primaryUpstreamProvider: 'gihtub' })).toEqual([
        'primaryUpstreamProvider: no upstream provider is named "gihtub", did you mean "github"?',
      ]);
      expect(problems({ upstreamProviders, primaryUpstreamProvider: 'a'.repeat(64) }).join()).toContain('providers: ');
    },
  );

  proves('vmcp.auth-server.primary-upstream-provider-default', 'selects the first provider by default', () => {
    const upstreamProviders = [provider('corp'), provider('github')];
    expect(primaryOf(parse({ upstreamProviders }))).toBe('corp');
    expect(primaryOf(parse({ upstreamProviders, primaryUpstreamProvider: '' }))).toBe('corp');
  });

  proves('vmcp.auth-server.disable-upstream-token-injection', 'sends credentials to backends by default', () => {
    expect(parse().disableUpstreamTokenInjection).toBe(false);
    expect(parse({ disableUpstreamTokenInjection: true }).disableUpstreamTokenInjection).toBe(true);
  });

  proves('vmcp.auth-server.storage-type', 'keeps records in memory by default, or in redis', () => {
    expect(parse().storage.type).toBe('memory');
    const redis = { addr: 'redis:6379', aclUserConfig: { passwordSecretRef: { env: 'PASSWORD' } } };
    expect(parse({ storage: { type: 'redis', redis } }).storage.type).toBe('redis');
    expect(problems({ storage: { type: 'file' } }).join()).toMatch(/^storage\.type: /);
  });

  proves('vmcp.auth-server.storage-redis-required', 'needs storage.redis when the type is redis', () => {
    expect(problems({ storage: { type: 'redis' } }).join()).toMatch(/^storage\.redis: missing/);
  });

  proves(
    ['vmcp.auth-server.access-token-lifespan', 'vmcp.auth-server.auth-code-lifespan'],
    'issues access tokens for 1h, refresh tokens for 168h and codes for 10m by default',
    () => {
      const standard = { accessTokenLifespan: HOUR, refreshTokenLifespan: 168 * HOUR, authCodeLifespan: HOUR / 6 };
      expect(parse().tokenLifespans).toEqual(standard);
      expect(parse({ tokenLifespans: { accessTokenLifespan: '5m' } }).tokenLifespans).toEqual({
        ...standard,
        accessTokenLifespan: HOUR / 12,
      });
    },
  );

  proves('vmcp.auth-server.lifespans-durations', 'reads lifespans as Go durations within bounds', () => {
    for (const [key, good, bad] of [
      ['accessTokenLifespan', ['1m', '24h'], ['59s', '24h1s', '1 hour', 3600]],
      ['refreshTokenLifespan', ['1h', '720h'], ['59m', '721h', '7d']],
      ['authCodeLifespan', ['30s', '10m'], ['29s', '11m', '']],
    ] as const) {
      for (const value of good) expect(problems({ tokenLifespans: { [key]: value } }), value).toEqual([]);
      for (const value of bad) {
        expect(problems({ tokenLifespans: { [key]: value } }).join(), `${key} ${value}`).toMatch(
          new RegExp(`^tokenLifespans\\.${key}: expected a .*duration`, 'i'),
        );
      }
    }
  });

  it('supports the standard scopes, those of the resource and those of the providers', () => {
    const upstreamProviders = [
      provider('corp', {
        oidcConfig: { issuerUrl: 'https://a.example.com', clientId: 'a', scopes: ['openid', 'api://x/read'] },
      }),
    ];
    const config = parse({ upstreamProviders, scopesSupported: ['mcp:tools'], baselineClientScopes: ['mcp:tools'] });
    expect(supportedScopes(config)).toEqual([
      ...['openid', 'profile', 'email', 'offline_access', 'mcp:tools', 'api://x/read'],
    ]);
    expect(problems({ baselineClientScopes: ['openid', 'admin'] })).toEqual([
      'baselineClientScopes[1]: "admin" is not a supported scope; supported: openid, profile, email, offline_access',
    ]);
  });
});
