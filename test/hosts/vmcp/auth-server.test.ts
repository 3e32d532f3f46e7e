import { GatewayFault } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { overviewOf } from '../../../hosts/vmcp/overview.ts';
import { proves } from '../../support/proves.ts';
import { vmcpConfig } from '../../support/vmcp-file.ts';
import { readText } from '../../support/vmcp-text.ts';

const ISSUER = 'https://gateway.example.com';
const RESOURCE = 'https://gateway.example.com/mcp';

const oidc = (more: object = {}) => ({
  type: 'oidc',
  oidc: { issuer: ISSUER, clientId: 'gateway', audience: RESOURCE, ...more },
});

const keys = {
  signingKeySecretRefs: [{ name: 'gateway-keys', key: 'signing.pem' }],
  hmacSecretRefs: [{ name: 'gateway-keys', key: 'hmac' }],
};

const authServer = (more: object = {}) => ({
  issuer: ISSUER,
  upstreamProviders: [
    { name: 'corp', type: 'oidc', oidcConfig: { issuerUrl: 'https://idp.example.com', clientId: 'gateway' } },
    {
      name: 'calendar',
      type: 'oidc',
      loginPolicy: 'onDemand',
      oidcConfig: { issuerUrl: 'https://cal.example.com', clientId: 'gateway' },
    },
  ],
  ...keys,
  ...more,
});

const fileOf = (more: object) =>
  stringify(vmcpConfig({ notes: 'https://notes.example.com/mcp' }, { incomingAuth: oidc(), ...more }));

const read = (more: object = {}) => readText(fileOf({ authServerConfig: authServer(), ...more }));

/** Problems without file and line. */
const problems = async (more: object): Promise<readonly string[]> => {
  const fault = await read(more).then(
    () => new GatewayFault('PLAN_INVALID', ''),
    (cause: unknown) => cause as GatewayFault,
  );
  return fault.message.split('\n').map((line) => line.replace(/^vmcp\.yaml:\d+: /, ''));
};

const warnings = async (section: object, more: object = {}) =>
  (await read({ authServerConfig: authServer(section), ...more })).warnings.map((line) =>
    line.replace(/^vmcp\.yaml:\d+: /, ''),
  );

describe('authServerConfig in a vmcp file', () => {
  it('fits incomingAuth and becomes a plugin of the plan', async () => {
    const file = await read({ incomingAuth: oidc({ scopes: ['openid', 'mcp:tools'] }) });
    expect(file.warnings).toEqual([]);
    const { plugins } = file.plan;
    expect(plugins.find(({ use }) => use === 'auth-server')?.with).toMatchObject({
      issuer: ISSUER,
      allowedAudiences: [RESOURCE],
      scopesSupported: ['openid', 'mcp:tools'],
    });
    const order = plugins.map(({ use }) => use);
    expect(order.indexOf('auth-server')).toBeLessThan(order.indexOf('incoming-auth/oidc'));
  });

  it('says which provider has the claims that policies read, and so does the deprecated place', async () => {
    const authz = (more: object = {}) => ({
      incomingAuth: {
        ...oidc(),
        authz: { type: 'cedar', policies: ['permit(principal, action, resource);'], ...more },
      },
    });
    const chosen = async (section: object, more: object = {}) => {
      const { plugins } = (await read({ authServerConfig: authServer(section), ...authz(more) })).plan;
      return (plugins.find(({ use }) => use === 'authorization/cedar')?.with as { primaryUpstreamProvider: string })
        .primaryUpstreamProvider;
    };
    expect(await chosen({})).toBe('corp');
    expect(await chosen({ primaryUpstreamProvider: 'calendar' })).toBe('calendar');
    expect(await chosen({}, { primaryUpstreamProvider: 'calendar' })).toBe('calendar');
    expect(await warnings({}, authz({ primaryUpstreamProvider: 'calendar' }))).toEqual([
      'incomingAuth.authz.primaryUpstreamProvider: is deprecated; its new place is authServerConfig.primaryUpstreamProvider',
    ]);
    expect(await problems(authz({ primaryUpstreamProvider: 'calender' }))).toEqual([
      'incomingAuth.authz.primaryUpstreamProvider: no upstream provider is named "calender", did you mean "calendar"?',
    ]);
    const both = { authServerConfig: authServer({ primaryUpstreamProvider: 'corp' }) };
    expect(await problems({ ...both, ...authz({ primaryUpstreamProvider: 'calendar' }) })).toEqual([
      expect.stringContaining(
        'authz.primaryUpstreamProvider: differs from authServerConfig.primaryUpstreamProvider ("corp")',
      ),
    ]);
  });

  it('is in the overview of validate', async () => {
    const lines = await overviewOf(await read(), catalogue);
    expect(lines.find(({ key }) => key === 'authServer')).toEqual({
      key: 'authServer',
      label: 'auth server',
      value: ISSUER,
      text: `${ISSUER}, providers: corp, calendar (on demand), storage: memory`,
    });
    const absent = await overviewOf(await read({ authServerConfig: undefined }), catalogue);
    expect(absent.find(({ key }) => key === 'authServer')?.value).toBe('none');
  });

  it('lets the issuer be plain http on this machine, which another issuer may not be', async () => {
    const issuer = 'http://localhost:4483';
    const incomingAuth = oidc({ issuer });
    expect(await problems({ incomingAuth, authServerConfig: authServer({ issuer }) })).toEqual(['']);
    expect(await problems({ incomingAuth, authServerConfig: undefined })).toEqual([
      'incomingAuth.oidc.issuer: expected https; plain http is not allowed (insecureAllowHttp allows it, for development)',
    ]);
  });

  it('names an unknown key with the nearest one', async () => {
    expect(await problems({ authServerConfig: authServer({ storge: { type: 'memory' } }) })).toEqual([
      expect.stringMatching(/^authServerConfig\.storge: .*did you mean "storage"\?/),
    ]);
  });

  it('checks names of providers, unless the providers have problems themselves', async () => {
    const uses = (providerName: string) => ({
      outgoingAuth: {
        source: 'inline',
        backends: { notes: { type: 'upstream_inject', upstreamInject: { providerName } } },
      },
    });
    const at = 'outgoingAuth.backends.notes.upstreamInject.providerName';
    expect(await problems(uses('calender'))).toEqual([
      `${at}: no upstream provider is named "calender", did you mean "calendar"?`,
    ]);
    expect(await problems({ ...uses('corp'), authServerConfig: undefined })).toEqual([
      `${at}: names an upstream provider, and the file has none; add authServerConfig with upstreamProviders`,
    ]);
    expect(await problems({ ...uses('corp'), authServerConfig: authServer({ issuer: 'x' }) })).toEqual([
      expect.stringMatching(/^authServerConfig\.issuer: expected an http or https URL/),
    ]);
  });

  proves('vmcp.authentication.issuer-matches', 'refuses another issuer in incomingAuth.oidc', async () => {
    expect(await problems({ incomingAuth: oidc({ issuer: 'https://other.example.com' }) })).toEqual([
      'authServerConfig.issuer: differs from incomingAuth.oidc.issuer (https://other.example.com)',
    ]);
  });

  it('needs callers with tokens', async () => {
    expect(await problems({ incomingAuth: { type: 'anonymous' } })).toEqual([
      'authServerConfig: needs incomingAuth.type: oidc, which accepts its tokens',
    ]);
  });

  it('needs the URL of the endpoint, which is the audience of its tokens', async () => {
    expect(await problems({ incomingAuth: oidc({ audience: 'gateway' }) })).toEqual([
      'authServerConfig: expected the URL of the MCP endpoint in incomingAuth.oidc.resource; the audience (gateway) is none',
    ]);
    expect(await problems({ incomingAuth: oidc({ audience: 'gateway', resource: RESOURCE }) })).toEqual([
      `authServerConfig: incomingAuth.oidc.audience (gateway) differs from the resource (${RESOURCE}) that tokens are issued for; make them equal, or list both in allowedAudiences`,
    ]);
    const allowedAudiences = ['https://other.example.com/mcp'];
    expect(await problems({ authServerConfig: authServer({ allowedAudiences }) })).toEqual([
      `authServerConfig.allowedAudiences: ${RESOURCE} is missing, which incomingAuth.oidc names`,
    ]);
  });

  it('puts the URL of the endpoint first in the allowed audiences', async () => {
    const allowedAudiences = ['https://other.example.com/mcp', RESOURCE];
    const { plugins } = (await read({ authServerConfig: authServer({ allowedAudiences }) })).plan;
    expect(plugins.find(({ use }) => use === 'auth-server')?.with).toMatchObject({
      allowedAudiences: [RESOURCE, 'https://other.example.com/mcp'],
    });
  });

  proves(
    'vmcp.auth-server.disable-upstream-token-injection-exclusive',
    'refuses disableUpstreamTokenInjection with token exchange and with AWS STS',
    async () => {
      const tokenExchange = { tokenUrl: 'https://sts.example.com/token' };
      const awsSts = { region: 'eu-west-1', fallbackRoleArn: 'arn:aws:iam::123456789012:role/reader' };
      for (const strategy of [
        { type: 'token_exchange', tokenExchange },
        { type: 'aws_sts', awsSts },
      ]) {
        const found = await problems({
          authServerConfig: authServer({ disableUpstreamTokenInjection: true }),
          outgoingAuth: { source: 'inline', backends: { notes: strategy } },
        });
        expect(found).toEqual([
          `authServerConfig.disableUpstreamTokenInjection: cannot be combined with token exchange or AWS STS outgoing auth; outgoingAuth uses ${strategy.type}`,
        ]);
      }
    },
  );

  it('warns without keys, with records of one process for several replicas, and of plain http', async () => {
    expect(await warnings({ signingKeySecretRefs: [], hmacSecretRefs: undefined })).toEqual([
      expect.stringContaining('authServerConfig: has no signingKeySecretRefs, so each start makes a new key'),
      expect.stringContaining('authServerConfig: has no hmacSecretRefs, so each start makes a new secret'),
    ]);
    const sessionStorage = { provider: 'redis', address: 'redis:6379' };
    expect(await warnings({}, { sessionStorage })).toEqual([
      'authServerConfig.storage: keeps records in this process, but sessionStorage is for several replicas; use type: redis',
    ]);
    const issuer = 'http://gateway.tools.svc:4483';
    expect(
      await warnings(
        { issuer, insecureAllowHTTP: true },
        { incomingAuth: oidc({ issuer, insecureAllowHttp: true, audience: `${issuer}/mcp` }) },
      ),
    ).toEqual(['authServerConfig.issuer: is plain http: codes, tokens and cookies can be read on the network']);
  });

  it('warns of readable tokens in Redis and of credentials in the file', async () => {
    const redis = { addr: 'redis:6379', aclUserConfig: { passwordSecretRef: { env: 'PASSWORD' } } };
    expect(await warnings({ storage: { type: 'redis', redis } })).toEqual([
      'authServerConfig.storage: has no encryptionKeySecretRefs, so tokens of upstream providers are readable in Redis',
    ]);
    const userInfo = {
      endpointUrl: 'https://code.example.com/user',
      additionalHeaders: { 'X-Api-Key': 'k', 'X-Team': 'a' },
    };
    const oauth2Config = {
      authorizationEndpoint: 'https://code.example.com/authorize',
      tokenEndpoint: 'https://code.example.com/token',
      clientId: 'gateway',
      userInfo,
    };
    expect(await warnings({ upstreamProviders: [{ name: 'code', type: 'oauth2', oauth2Config }] })).toEqual([
      'authServerConfig.upstreamProviders[0].oauth2Config.userInfo.additionalHeaders.X-Api-Key: looks like a credential, and everyone who reads the file can read it',
    ]);
  });

  it('warns of redirects to another host than the one of the sign-in', async () => {
    const issuer = 'http://localhost:4483';
    const audience = 'http://127.0.0.1:4483/mcp';
    const why = `than ${issuer}: the browser comes back without the cookies of the sign-in, which then fails`;
    expect(await warnings({ issuer }, { incomingAuth: oidc({ issuer, audience }) })).toEqual([
      `authServerConfig.issuer: providers redirect to ${audience}/oauth/callback, which has another host ${why}; use one host for both`,
    ]);
    const redirected = (redirectUri: string) => ({
      upstreamProviders: [
        {
          name: 'corp',
          type: 'oidc',
          oidcConfig: { issuerUrl: 'https://idp.example.com', clientId: 'gateway', redirectUri },
        },
      ],
    });
    expect(await warnings(redirected('https://other.example.com/callback'))).toEqual([
      expect.stringContaining('authServerConfig.upstreamProviders[0].oidcConfig.redirectUri: has another host than'),
    ]);
    expect(await warnings(redirected(`${ISSUER}/callback`))).toEqual([]);
    const base = { authorizationEndpointBaseUrl: 'https://login.example.com' };
    expect(await warnings({ ...base, ...redirected('https://login.example.com/callback') })).toEqual([]);
  });

  it('warns that Google refuses the default scopes', async () => {
    const google = { issuerUrl: 'https://accounts.google.com', clientId: 'gateway' };
    const upstreams = (oidcConfig: object) => ({ upstreamProviders: [{ name: 'google', type: 'oidc', oidcConfig }] });
    expect((await warnings(upstreams(google))).join()).toContain('Google refuses the scope offline_access');
    expect(await warnings(upstreams({ ...google, scopes: ['openid', 'email'] }))).toEqual([]);
  });
});
