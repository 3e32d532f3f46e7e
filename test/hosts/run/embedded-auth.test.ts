import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRunConfig } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import { checkPlan } from '../../../hosts/workloads/planning/check-plan.ts';
import { planFromRun } from '../../../hosts/workloads/proxy/plan.ts';
import { authServerConfig } from '../../../plugins/auth-server/config.ts';
import { proves } from '../../support/proves.ts';

const RESOURCE = 'https://tools.example.com/mcp';

const embedded = (more: object = {}) => ({
  issuer: 'https://tools.example.com',
  upstreams: [
    { name: 'corp', type: 'oidc', oidc_config: { issuer_url: 'https://idp.example.com', client_id: 'tools' } },
  ],
  ...more,
});

const configOf = (more: object = {}) => ({
  schema_version: 'v0.1.0',
  name: 'tools',
  transport: 'streamable-http',
  remote_url: 'https://backend.example.com/mcp',
  oidc_config: { issuer: 'https://tools.example.com', audience: RESOURCE },
  embedded_auth_server_config: embedded(),
  ...more,
});

const planOf = (more: object = {}) => {
  const read = readRunConfig(configOf(more));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return planFromRun(read.config, { runId: 'test' });
};

const problems = (more: object) => {
  const read = readRunConfig(configOf(more));
  return 'problems' in read ? read.problems : [];
};

/** The configuration of the authorization server as its plugin reads it. */
const settingsOf = async (more: object = {}) => {
  const plan = await planOf({ embedded_auth_server_config: embedded(more) });
  return authServerConfig.parse(plan.plugins.find(({ use }) => use === 'auth-server')?.with);
};

describe('a run configuration with an authorization server', () => {
  it('issues tokens for the resource of oidc_config', async () => {
    expect(await settingsOf()).toMatchObject({
      issuer: 'https://tools.example.com',
      allowedAudiences: [RESOURCE],
      upstreamProviders: [{ name: 'corp', oidcConfig: { scopes: ['openid', 'offline_access'] } }],
    });
    const order = (await planOf()).plugins.map(({ use }) => use);
    expect(order.indexOf('auth-server')).toBeLessThan(order.indexOf('incoming-auth/oidc'));
    await expect(checkPlan(await planOf())).resolves.toBeUndefined();
  });

  proves(
    'manager.embedded-auth.storage-redis-tls',
    'reads every field of the contract, TLS of the storage too',
    async () => {
      const read = await settingsOf({
        schema_version: 'v0.1.0',
        allowed_audiences: [RESOURCE],
        authorization_endpoint_base_url: 'https://login.example.com',
        baseline_client_scopes: ['openid'],
        cimd: { enabled: true, cache_fallback_ttl: '1m', cache_max_size: 3 },
        disable_upstream_token_injection: true,
        hmac_secret_files: ['/keys/hmac'],
        insecure_allow_http: true,
        scopes_supported: ['mcp:tools'],
        signing_key_config: {
          key_dir: '/keys',
          signing_key_file: 'now.pem',
          fallback_key_files: ['old.pem', '/x.pem'],
        },
        storage: {
          type: 'redis',
          redis_config: {
            acl_user_config: { password_env_var: 'PASSWORD', username_env_var: 'USERNAME' },
            auth_type: 'aclUser',
            dial_timeout: '1s',
            key_prefix: 'a:',
            read_timeout: '2s',
            write_timeout: '3s',
            sentinel_config: { db: 2, master_name: 'main', sentinel_addrs: ['sentinel:26379'] },
            sentinel_tls: { insecure_skip_verify: true, ca_cert_file: '/sentinels.pem' },
            tls: { ca_cert_file: '/ca.pem' },
          },
        },
        token_lifespans: { access_token_lifespan: '5m', auth_code_lifespan: '1m', refresh_token_lifespan: '2h' },
      });
      expect(read).toMatchObject({
        authorizationEndpointBaseUrl: 'https://login.example.com',
        baselineClientScopes: ['openid'],
        cimd: { enabled: true, cacheFallbackTtl: 60_000, cacheMaxSize: 3 },
        disableUpstreamTokenInjection: true,
        hmacSecretRefs: [{ file: '/keys/hmac' }],
        insecureAllowHTTP: true,
        scopesSupported: ['mcp:tools'],
        signingKeySecretRefs: [{ file: '/keys/now.pem' }, { file: '/keys/old.pem' }, { file: '/x.pem' }],
        storage: {
          type: 'redis',
          redis: {
            aclUserConfig: { passwordSecretRef: { env: 'PASSWORD' }, usernameSecretRef: { env: 'USERNAME' } },
            dialTimeout: 1000,
            keyPrefix: 'a:',
            sentinelConfig: { db: 2, masterName: 'main', sentinelAddrs: ['sentinel:26379'] },
            sentinelTls: { insecureSkipVerify: true, caCertSecretRef: { file: '/sentinels.pem' } },
            tls: { insecureSkipVerify: false, caCertSecretRef: { file: '/ca.pem' } },
          },
        },
        tokenLifespans: { accessTokenLifespan: 300_000, authCodeLifespan: 60_000, refreshTokenLifespan: 7_200_000 },
      });
    },
  );

  it('reads every field of the providers, and keeps names of headers and parameters', async () => {
    const oidc = {
      ...{ additional_authorization_params: { access_type: 'offline' }, allow_private_ips: true, client_id: 'tools' },
      ...{ client_secret_file: '/secret', insecure_allow_http: true, redirect_uri: 'https://tools.example.com/back' },
      ...{ issuer_url: 'https://idp.example.com', scopes: ['openid'], subject_claim: '' },
      userinfo_override: {
        additional_headers: { 'X-Some_Header': 'a' },
        endpoint_url: 'https://idp.example.com/me',
        http_method: 'POST',
        field_mapping: { subject_fields: ['sub'], name_fields: ['login'], email_fields: ['mail'] },
      },
    };
    const oauth2 = {
      ...{ authorization_endpoint: 'https://code.example.com/a', token_endpoint: 'https://code.example.com/t' },
      ...{ client_id: 'tools', client_secret_env_var: 'CODE_SECRET', scopes: ['repo'] },
      identity_from_token: { subject_path: 'user.id', name_path: 'user.name', email_path: 'user.mail' },
      token_response_mapping: {
        ...{ access_token_path: 'a', expires_in_path: 'b', refresh_token_path: 'c', scope_path: 'd' },
      },
    };
    const registered = {
      ...{ authorization_endpoint: 'https://dcr.example.com/a', token_endpoint: 'https://dcr.example.com/t' },
      dcr_config: {
        ...{ discovery_url: 'https://dcr.example.com/meta', initial_access_token_env_var: 'INITIAL' },
        ...{ software_id: 'tools', software_statement: 'e30' },
      },
    };
    const { upstreamProviders } = await settingsOf({
      upstreams: [
        { name: 'corp', type: 'oidc', oidc_config: oidc },
        { name: 'code', type: 'oauth2', oauth2_config: oauth2 },
        { name: 'wiki', type: 'oauth2', oauth2_config: registered },
      ],
    });
    expect(upstreamProviders).toMatchObject([
      {
        allowPrivateAddresses: true,
        insecureAllowHTTP: true,
        oidcConfig: {
          ...{ issuerUrl: 'https://idp.example.com', clientSecretRef: { file: '/secret' } },
          ...{ additionalAuthorizationParams: { access_type: 'offline' }, scopes: ['openid'] },
          redirectUri: 'https://tools.example.com/back',
          userInfoOverride: {
            additionalHeaders: { 'X-Some_Header': 'a' },
            httpMethod: 'POST',
            fieldMapping: { subjectFields: ['sub'], nameFields: ['login'], emailFields: ['mail'] },
          },
        },
      },
      {
        oauth2Config: {
          clientSecretRef: { env: 'CODE_SECRET' },
          identityFromToken: { subjectPath: 'user.id', namePath: 'user.name', emailPath: 'user.mail' },
          tokenResponseMapping: { accessTokenPath: 'a', expiresInPath: 'b', refreshTokenPath: 'c', scopePath: 'd' },
        },
      },
      {
        oauth2Config: {
          dcrConfig: {
            ...{ discoveryUrl: 'https://dcr.example.com/meta', initialAccessTokenRef: { env: 'INITIAL' } },
            ...{ softwareId: 'tools', softwareStatement: 'e30' },
          },
        },
      },
    ]);
  });

  it('sends the token of a provider or AWS credentials to the server', async () => {
    const swap = { provider_name: 'corp', header_strategy: 'custom', custom_header_name: 'X-Token' };
    expect((await planOf({ upstream_swap_config: swap })).outgoingAuth?.default).toEqual({
      type: 'upstream_inject',
      options: { providerName: 'corp', headerName: 'X-Token' },
    });
    expect((await planOf({ upstream_swap_config: {} })).outgoingAuth?.default).toEqual({
      type: 'upstream_inject',
      options: { providerName: 'corp' },
    });
    const aws = {
      ...{ region: 'eu-west-1', fallback_role_arn: 'arn:aws:iam::123456789012:role/reader', session_duration: 900 },
      role_mappings: [{ role_arn: 'arn:aws:iam::123456789012:role/admin', claim: 'admins', priority: 1 }],
    };
    expect((await planOf({ aws_sts_config: aws })).outgoingAuth?.default).toEqual({
      type: 'aws_sts',
      options: {
        ...{ region: 'eu-west-1', fallbackRoleArn: aws.fallback_role_arn, sessionDuration: 900 },
        roleMappings: [{ roleArn: aws.role_mappings[0]?.role_arn, claim: 'admins', priority: 1 }],
      },
    });
  });

  it('names what does not fit together', () => {
    expect(problems({ oidc_config: { issuer: 'https://other.example.com', audience: RESOURCE } })).toEqual([
      'embedded_auth_server_config: issuer differs from oidc_config.issuer',
    ]);
    expect(problems({ oidc_config: undefined })).toEqual([
      'embedded_auth_server_config: needs oidc_config, which accepts its tokens',
    ]);
    expect(problems({ embedded_auth_server_config: undefined, upstream_swap_config: {} })).toEqual([
      'upstream_swap_config: needs embedded_auth_server_config, which has the tokens of the providers',
    ]);
    expect(problems({ upstream_swap_config: { header_strategy: 'custom' } })).toEqual([
      'upstream_swap_config: header_strategy custom and custom_header_name need each other',
    ]);
    expect(problems({ upstream_swap_config: {}, aws_sts_config: { region: 'eu-west-1' } })).toEqual([
      'aws_sts_config: excludes upstream_swap_config: a request has one credential',
    ]);
    expect(
      problems({
        upstream_swap_config: {},
        embedded_auth_server_config: embedded({ disable_upstream_token_injection: true }),
      }),
    ).toEqual(['upstream_swap_config: excludes embedded_auth_server_config.disable_upstream_token_injection']);
    expect(problems({ embedded_auth_server_config: embedded({ issuerr: 'x' }) }).join()).toContain(
      'did you mean "issuer"?',
    );
  });

  it('is what the guide shows', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/guides/sign-in-operation.md'), 'utf8');
    const [, text = ''] = /^```json[^\n]*\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const read = readRunConfig(JSON.parse(text));
    if ('problems' in read) throw new Error(read.problems.join('\n'));
    await expect(checkPlan(await planFromRun(read.config, { runId: 'test' }))).resolves.toBeUndefined();
  });

  it('refuses values of the authorization server before the start, with their place', async () => {
    const wrong = embedded({ token_lifespans: { access_token_lifespan: '1s' }, hmac_secret_files: ['/a'] });
    await expect(checkPlan(await planOf({ embedded_auth_server_config: wrong }))).rejects.toThrow(
      'embedded_auth_server_config.tokenLifespans.accessTokenLifespan: expected a duration from 1m to 24h',
    );
  });
});
