import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { conditions, entry, messageOf, object, podOf, resolveYaml, secret, server } from './resolve-yaml.ts';

const ISSUER = 'https://mcp.example.com';
const company = (issuer = ISSUER, more = '') =>
  object('MCPOIDCConfig', 'company', `spec: { type: inline, inline: { issuer: "${issuer}"${more} } }`);
const oidc = (more = '', audience = ISSUER) =>
  `{ type: oidc, oidcConfigRef: { name: company, audience: "${audience}", resourceUrl: "${ISSUER}" }${more} }`;
const GITHUB =
  '{ name: github, type: oauth2, oauth2Config: { authorizationEndpoint: "https://github.com/a", tokenEndpoint: "https://github.com/t", clientId: c } }';
const GOOGLE =
  '{ name: google, type: oidc, oidcConfig: { issuerUrl: "https://accounts.google.com", clientId: c, scopes: [openid] } }';
const authServer = (more = '', providers = `[${GOOGLE}]`, issuer = ISSUER) =>
  `authServerConfig: { issuer: "${issuer}", upstreamProviders: ${providers}${more} }`;
const PERMIT = '["permit(principal, action, resource);"]';
const CONDITION = 'AuthServerConfigValidated';

describe('spec.authServerConfig', () => {
  proves(
    ['vmcp.event.auth-server-condition', 'vmcp.authentication.issuer-matches'],
    'is part of the file when its issuer and audience match the reference',
    async () => {
      const resolution = await resolveYaml(server(authServer(), oidc()) + company());
      expect(conditions(resolution)).toContain(`${CONDITION}=True/AuthServerConfigValid`);
      expect(podOf(resolution).config).toMatchObject({ authServerConfig: { issuer: ISSUER } });
      const other = await resolveYaml(server(authServer(), oidc()) + company('https://other.example.com'));
      expect(conditions(other)).toContain(`${CONDITION}=False/AuthServerConfigInvalid`);
      expect(messageOf(other, CONDITION)).toContain('differs from incomingAuth.oidc.issuer');
      expect(other.outcome).toMatchObject({ result: 'failed', phase: 'Failed' });
    },
  );

  proves(
    ['vmcp.error.http-issuer', 'vmcp.auth-server.insecure-allow-http-condition'],
    'is refused with a condition for an http issuer, unless insecureAllowHTTP allows it',
    async () => {
      const issuer = 'http://mcp.example.com';
      const config = company(issuer, ', insecureAllowHTTP: true');
      const refused = await resolveYaml(server(authServer('', `[${GOOGLE}]`, issuer), oidc()) + config);
      expect(conditions(refused)).toContain(`${CONDITION}=False/AuthServerConfigInvalid`);
      expect(messageOf(refused, CONDITION)).toContain('spec.authServerConfig.issuer: expected https');
      expect(refused.outcome).toMatchObject({ result: 'failed', phase: 'Failed' });
      expect(refused.pod).toBeUndefined();
      const allowed = authServer(', insecureAllowHTTP: true', `[${GOOGLE}]`, issuer);
      expect((await resolveYaml(server(allowed, oidc()) + config)).outcome.result).toBe('ready');
    },
  );

  const refusals: readonly [string, string, string, string, string][] = [
    [
      'an audience that is not the resource',
      authServer(),
      oidc('', 'tools'),
      'AuthServerConfigInvalid',
      'differs from the resource',
    ],
    [
      'anonymous callers',
      authServer(),
      '{ type: anonymous }',
      'AuthServerConfigInvalid',
      'needs incomingAuth.type: oidc',
    ],
    ['no provider', authServer('', '[]'), oidc(), 'AuthzRequiresUpstream', 'at least one provider'],
    [
      'an unknown primary provider',
      authServer(', primaryUpstreamProvider: okta'),
      oidc(),
      'AuthzUpstreamUnknown',
      'no upstream provider is named okta (google)',
    ],
    [
      'policies that name an unknown provider',
      authServer(),
      oidc(`, authzConfig: { type: inline, inline: { policies: ${PERMIT}, primaryUpstreamProvider: okta } }`),
      'AuthzUpstreamUnknown',
      'no upstream provider is named okta',
    ],
    [
      'two primary providers',
      authServer(', primaryUpstreamProvider: google', `[${GOOGLE}, ${GITHUB}]`),
      oidc(`, authzConfig: { type: inline, inline: { policies: ${PERMIT}, primaryUpstreamProvider: github } }`),
      'AuthServerConfigInvalid',
      'the policies name the upstream provider github',
    ],
    [
      'a provider without an authorization server',
      '',
      oidc(`, authzConfig: { type: inline, inline: { policies: ${PERMIT}, primaryUpstreamProvider: okta } }`),
      'AuthzPrimaryProviderRequiresAuthServer',
      'needs spec.authServerConfig',
    ],
    [
      'parameters that the server sets itself',
      authServer('', `[${GOOGLE.replace('clientId: c', 'clientId: c, additionalAuthorizationParams: { state: x }')}]`),
      oidc(),
      'AuthServerConfigInvalid',
      'the gateway sets this parameter itself',
    ],
  ];
  it.each(refusals)('is refused with %s', async (_, spec, auth, reason, message) => {
    const resolution = await resolveYaml(server(spec, auth) + company());
    expect(conditions(resolution)).toContain(`${CONDITION}=False/${reason}`);
    expect(messageOf(resolution, CONDITION)).toContain(message);
    expect(resolution.outcome).toMatchObject({ result: 'failed', phase: 'Failed' });
  });

  it('gets its secrets as files, whose rotation rolls, and is refused without them', async () => {
    const refs =
      ', hmacSecretRefs: [{ name: keys, key: hmac }], signingKeySecretRefs: [{ name: keys, key: sign.pem }], storage: { type: redis, redis: { addr: "redis:6379", aclUserConfig: { passwordSecretRef: { name: redis, key: password } } } }';
    const text = server(authServer(refs), oidc()) + company() + secret('redis', { password: 'p' });
    const keys = { hmac: 'h'.repeat(32), 'sign.pem': 'pem' };
    const pod = podOf(await resolveYaml(text + secret('keys', keys)));
    expect(pod.env).toEqual([{ name: 'TOOLMGR_SECRETS_DIR', value: '/etc/toolmgr/secrets' }]);
    expect(pod.volumeMounts).toEqual([{ name: 'secrets', mountPath: '/etc/toolmgr/secrets', readOnly: true }]);
    expect(pod.volumes).toEqual([
      {
        name: 'secrets',
        projected: {
          defaultMode: 0o440,
          sources: [
            {
              secret: {
                name: 'keys',
                items: [
                  { key: 'hmac', path: 'keys/hmac' },
                  { key: 'sign.pem', path: 'keys/sign.pem' },
                ],
              },
            },
            { secret: { name: 'redis', items: [{ key: 'password', path: 'redis/password' }] } },
          ],
        },
      },
    ]);
    expect(pod.config).toMatchObject({
      authServerConfig: { storage: { redis: { keyPrefix: 'toolmgr:auth:{team:tools}:' } } },
    });
    const rotated = podOf(await resolveYaml(text + secret('keys', { ...keys, 'sign.pem': 'new' })));
    expect(rotated.checksum).not.toBe(pod.checksum);

    const short = await resolveYaml(text + secret('keys', { ...keys, hmac: 'short' }));
    expect(short.events.map(({ reason }) => reason)).toEqual(['HMACSecretValidationFailed']);
    expect(messageOf(short, 'AuthConfigured')).toContain('has 5 bytes, expected at least 32');
    const missing = await resolveYaml(text + secret('keys', { hmac: keys.hmac }));
    expect(conditions(missing)).toContain('AuthConfigured=False/AuthInvalid');
    expect(missing.events.map(({ reason }) => reason)).toEqual(['SecretValidationFailed']);
    expect(missing.outcome.result).toBe('failed');
  });

  it('says which providers give people no name', async () => {
    const both = await resolveYaml(server(authServer('', `[${GOOGLE}, ${GITHUB}]`), oidc()) + company());
    expect(conditions(both)).toContain('IdentitySynthesized=True/OAuth2UpstreamWithoutUserInfo');
    expect(messageOf(both, 'IdentitySynthesized')).toContain(': github');
    const google = await resolveYaml(server(authServer(), oidc()) + company());
    expect(conditions(google)).toContain('IdentitySynthesized=False/AllUpstreamsHaveUserInfo');
  });

  it('warns when policies read the claims of the first of several providers', async () => {
    const policies = `, authzConfig: { type: inline, inline: { policies: ${PERMIT} } }`;
    const two = `[${GOOGLE}, ${GITHUB}]`;
    const warned = await resolveYaml(server(authServer('', two), oidc(policies)) + company());
    expect(conditions(warned)).toContain('AuthzUpstreamSelectionWarning=True/AuthzUpstreamAutoSelected');
    expect(warned.outcome.result).toBe('ready');
    const chosen = authServer(', primaryUpstreamProvider: github', two);
    const silent = await resolveYaml(server(chosen, oidc(policies)) + company());
    expect(conditions(silent).join()).not.toContain('AuthzUpstreamSelectionWarning');
  });

  proves(
    ['vmcp.event.deprecated-provider', 'vmcp.authz-config.inline-primary-upstream-provider-deprecated'],
    'still reads the deprecated provider of inline policies, with one Warning event per generation',
    async () => {
      const policies = `, authzConfig: { type: inline, inline: { policies: ${PERMIT}, primaryUpstreamProvider: github } }`;
      const text = server(authServer('', `[${GOOGLE}, ${GITHUB}]`), oidc(policies)) + company();
      const resolution = await resolveYaml(text);
      expect(podOf(resolution).config).toMatchObject({ authServerConfig: { primaryUpstreamProvider: 'github' } });
      expect(resolution.events).toMatchObject([
        { type: 'Warning', reason: 'AuthzPrimaryUpstreamProviderDeprecated', transition: 'generation 1' },
      ]);
      const next = await resolveYaml(
        text.replace('metadata: { name: tools }', 'metadata: { name: tools, generation: 2 }'),
      );
      expect(next.events.map(({ transition }) => transition)).toEqual(['generation 2']);
    },
  );

  it('with disableUpstreamTokenInjection leaves out backends that exchange tokens', async () => {
    const exchange = object(
      'MCPExternalAuthConfig',
      'exchange',
      'spec: { type: tokenExchange, tokenExchange: { tokenUrl: "https://idp.example.com/token", audience: a } }',
    );
    const text = company() + exchange + entry('far', 'externalAuthConfigRef: { name: exchange }') + entry('near');
    const own = await resolveYaml(server(authServer(', disableUpstreamTokenInjection: true'), oidc()) + text);
    expect(podOf(own).document?.backends.map(({ name }) => name)).toEqual(['near']);
    expect(conditions(own)).toContain('DiscoveredAuthConfig-far=False/ConversionFailed');
    const ref = 'outgoingAuth: { default: { type: externalAuthConfigRef, externalAuthConfigRef: { name: exchange } } }';
    const spec = await resolveYaml(
      server(`${authServer(', disableUpstreamTokenInjection: true')}, ${ref}`, oidc()) + text,
    );
    expect(conditions(spec)).toContain(`${CONDITION}=False/AuthServerConfigInvalid`);
    expect(spec.outcome.result).toBe('failed');
  });
});
