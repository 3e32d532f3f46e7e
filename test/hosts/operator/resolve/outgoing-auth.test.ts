import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { conditions, entry, messageOf, object, podOf, resolveYaml, secret, server } from './resolve-yaml.ts';

const OIDC =
  '{ type: oidc, oidcConfigRef: { name: company, audience: "https://mcp.example.com", resourceUrl: "https://mcp.example.com" } }';
const COMPANY = object(
  'MCPOIDCConfig',
  'company',
  'spec: { type: inline, inline: { issuer: "https://mcp.example.com" } }',
);
const provider = (name: string) =>
  `{ name: ${name}, type: oidc, oidcConfig: { issuerUrl: "https://${name}.example.com", clientId: c } }`;
const authServer = (...names: string[]) =>
  `authServerConfig: { issuer: "https://mcp.example.com", upstreamProviders: [${names.map(provider).join(', ')}] }`;
const auth = (name: string, spec: string) => object('MCPExternalAuthConfig', name, `spec: ${spec}`);
const REF = (name: string) => `externalAuthConfigRef: { name: ${name} }`;
const KEYS = secret('keys', { a: 'hunter2', b: 'hunter3' });
const header = (name: string) =>
  auth(
    name,
    '{ type: headerInjection, headerInjection: { headerName: X-Key, valueSecretRef: { name: keys, key: a } } }',
  );

const STRATEGIES: readonly [string, string, object, Record<string, object>][] = [
  ['unauthenticated', '{ type: unauthenticated }', {}, {}],
  [
    'headerInjection',
    '{ type: headerInjection, headerInjection: { headerName: X-Key, valueSecretRef: { name: keys, key: a } } }',
    {
      type: 'header_injection',
      options: { headerName: 'X-Key', headerValueEnv: 'TOOLMGR_HEADER_INJECTION_VALUE_MY_AUTH' },
    },
    { TOOLMGR_HEADER_INJECTION_VALUE_MY_AUTH: { name: 'keys', key: 'a' } },
  ],
  [
    'bearerToken',
    '{ type: bearerToken, bearerToken: { tokenSecretRef: { name: keys, key: a } } }',
    {
      type: 'header_injection',
      options: { headerName: 'Authorization', headerValueEnv: 'TOOLMGR_BEARER_TOKEN_MY_AUTH', valuePrefix: 'Bearer ' },
    },
    { TOOLMGR_BEARER_TOKEN_MY_AUTH: { name: 'keys', key: 'a' } },
  ],
  [
    'tokenExchange',
    '{ type: tokenExchange, tokenExchange: { tokenUrl: "https://idp.example.com/t", audience: far, clientId: c, clientSecretRef: { name: keys, key: b }, scopes: [s], externalTokenHeaderName: X-Token, subjectTokenType: jwt } }',
    {
      type: 'token_exchange',
      options: {
        tokenUrl: 'https://idp.example.com/t',
        audience: 'far',
        clientId: 'c',
        clientSecretEnv: 'TOOLMGR_TOKEN_EXCHANGE_CLIENT_SECRET_MY_AUTH',
        scopes: ['s'],
        headerName: 'X-Token',
        subjectTokenType: 'jwt',
      },
    },
    { TOOLMGR_TOKEN_EXCHANGE_CLIENT_SECRET_MY_AUTH: { name: 'keys', key: 'b' } },
  ],
  [
    'awsSts',
    '{ type: awsSts, awsSts: { region: eu-central-1, fallbackRoleArn: "arn:aws:iam::123456789012:role/mcp" } }',
    {
      type: 'aws_sts',
      options: {
        region: 'eu-central-1',
        fallbackRoleArn: 'arn:aws:iam::123456789012:role/mcp',
        service: 'aws-mcp',
        roleClaim: 'groups',
        sessionDuration: 3600,
        sessionNameClaim: 'sub',
      },
    },
    {},
  ],
  [
    'upstreamInject',
    '{ type: upstreamInject, upstreamInject: { providerName: google } }',
    { type: 'upstream_inject', options: { providerName: 'google' } },
    {},
  ],
  [
    'xaa',
    '{ type: xaa, xaa: { idpTokenUrl: "https://idp.example.com/t", idpClientId: i, idpClientSecretRef: { name: keys, key: a }, targetTokenUrl: "https://far.example.com/t", targetClientId: t, targetClientSecretRef: { name: keys, key: b }, targetAudience: far } }',
    {
      type: 'xaa',
      options: {
        idpTokenUrl: 'https://idp.example.com/t',
        idpClientId: 'i',
        idpClientSecretEnv: 'TOOLMGR_XAA_IDP_CLIENT_SECRET_MY_AUTH',
        targetTokenUrl: 'https://far.example.com/t',
        targetClientId: 't',
        targetClientSecretEnv: 'TOOLMGR_XAA_TARGET_CLIENT_SECRET_MY_AUTH',
        targetAudience: 'far',
        insecureTargetTokenUrl: false,
        subjectTokenType: 'urn:ietf:params:oauth:token-type:id_token',
      },
    },
    {
      TOOLMGR_XAA_IDP_CLIENT_SECRET_MY_AUTH: { name: 'keys', key: 'a' },
      TOOLMGR_XAA_TARGET_CLIENT_SECRET_MY_AUTH: { name: 'keys', key: 'b' },
    },
  ],
];

describe('an MCPExternalAuthConfig', () => {
  it.each(STRATEGIES)(
    'of type %s becomes a strategy for discovered backends',
    async (type, spec, expected, secrets) => {
      const text =
        server(authServer('google'), OIDC) + COMPANY + KEYS + auth('my-auth', spec) + entry('far', REF('my-auth'));
      const resolution = await resolveYaml(text);
      const pod = podOf(resolution);
      const [backend] = pod.document?.backends ?? [];
      expect(backend?.auth ?? {}).toEqual(expected);
      expect(backend?.authConfigRef).toBe('my-auth');
      expect(pod.document?.secrets).toEqual(secrets);
      expect(pod.secretNames).toEqual(Object.keys(secrets).length === 0 ? [] : ['keys']);
      expect(pod.env).toEqual([]);
      expect(conditions(resolution)).toContain('DiscoveredAuthConfig-far=True/ConversionSucceeded');
      expect(JSON.stringify(resolution)).not.toContain('hunter');
      const authType = (expected as { type?: string }).type ?? type;
      expect(resolution.effective).toEqual([
        { name: 'far', url: 'https://far.example.com/mcp', authType, authConfigRef: 'my-auth' },
      ]);
    },
  );

  it.each(STRATEGIES)(
    'of type %s becomes a strategy of the file, with its secrets as variables',
    async (_, spec, expected, secrets) => {
      const ref = `outgoingAuth: { source: inline, default: { type: externalAuthConfigRef, ${REF('my-auth')} } }`;
      const text =
        server(`${authServer('google')}, ${ref}`, OIDC) + COMPANY + KEYS + auth('my-auth', spec) + entry('far');
      const resolution = await resolveYaml(text);
      const pod = podOf(resolution);
      const { type, options } = expected as { type?: string; options?: object };
      expect(pod.document).toBeUndefined();
      expect(pod.secretNames).toEqual([]);
      const { backends = {} } = pod.config.outgoingAuth;
      const key = type?.replace(/_(.)/g, (_whole, letter: string) => letter.toUpperCase()) ?? '';
      expect(backends.far).toEqual(type === undefined ? undefined : { type, [key]: options });
      expect(pod.env).toEqual(
        Object.entries(secrets).map(([name, secretKeyRef]) => ({ name, valueFrom: { secretKeyRef } })),
      );
      expect(conditions(resolution)).toContain('DefaultAuthConfig=True/ConversionSucceeded');
    },
  );

  const failures: readonly [string, string, string, string][] = [
    ['a missing object', '', 'ConversionFailed', 'there is no MCPExternalAuthConfig my-auth'],
    [
      'a missing secret',
      auth('my-auth', '{ type: bearerToken, bearerToken: { tokenSecretRef: { name: gone, key: a } } }'),
      'ConversionFailed',
      'there is no secret gone',
    ],
    [
      'a missing key',
      auth('my-auth', '{ type: bearerToken, bearerToken: { tokenSecretRef: { name: keys, key: z } } }'),
      'ConversionFailed',
      'the secret keys has no key z',
    ],
    ['a type without its member', auth('my-auth', '{ type: awsSts }'), 'ConversionFailed', 'awsSts: missing'],
    [
      'an authorization server',
      auth(
        'my-auth',
        '{ type: embeddedAuthServer, embeddedAuthServer: { issuer: "https://a", upstreamProviders: [] } }',
      ),
      'ConversionFailed',
      'no strategy',
    ],
    ['obo', auth('my-auth', '{ type: obo, obo: { tenantId: t } }'), 'EnterpriseRequired', 'enterprise-required'],
    [
      'xaa with several providers',
      auth(
        'my-auth',
        '{ type: xaa, xaa: { idpTokenUrl: "https://i/t", targetTokenUrl: "https://f/t", targetAudience: f } }',
      ),
      'AmbiguousSubjectProvider',
      'several providers: google, okta',
    ],
    [
      'an unknown provider',
      auth('my-auth', '{ type: upstreamInject, upstreamInject: { providerName: azure } }'),
      'ConversionFailed',
      'azure',
    ],
    [
      'a forbidden header',
      auth(
        'my-auth',
        '{ type: headerInjection, headerInjection: { headerName: Host, valueSecretRef: { name: keys, key: a } } }',
      ),
      'ConversionFailed',
      'this header belongs to the connection',
    ],
  ];
  it.each(failures)(
    'with %s leaves its backend out, never without its credentials',
    async (_, object, reason, message) => {
      for (const source of ['discovered', 'inline']) {
        const spec = `${authServer('google', 'okta')}, outgoingAuth: { source: ${source} }`;
        const text = server(spec, OIDC) + COMPANY + KEYS + object + entry('far', REF('my-auth')) + entry('near');
        const resolution = await resolveYaml(text);
        expect(resolution.outcome).toEqual({ result: 'ready' });
        expect(conditions(resolution), source).toContain(`DiscoveredAuthConfig-far=False/${reason}`);
        expect(messageOf(resolution, 'DiscoveredAuthConfig-far')).toContain(message);
        const { document, configYaml, env } = podOf(resolution);
        expect(`${JSON.stringify(document)}${configYaml}`).not.toContain('far.example.com');
        expect(`${JSON.stringify(document)}${configYaml}`).toContain('near.example.com');
        expect(env).toEqual([]);
        expect(resolution.effective).toMatchObject([
          { name: 'far', authConfigRef: 'my-auth', problem: expect.stringContaining(message) },
          { name: 'near', authType: 'unauthenticated' },
        ]);
        expect(messageOf(resolution, 'BackendsDiscovered')).toContain('1 backend; left out: far: ');
      }
    },
  );

  it('of type obo works where the file allows it', async () => {
    const allow = 'config: { plugins: [{ use: outgoing-auth/obo, with: { allow: true } }] }';
    const obo = auth(
      'my-auth',
      '{ type: obo, obo: { tenantId: t, audience: far, clientId: c, clientSecretRef: { name: keys, key: a }, cacheSkew: 90s } }',
    );
    const resolution = await resolveYaml(server(allow, OIDC) + COMPANY + KEYS + obo + entry('far', REF('my-auth')));
    expect(podOf(resolution).document?.backends[0]?.auth).toEqual({
      type: 'obo',
      options: {
        tokenUrl: 'https://login.microsoftonline.com/t/oauth2/v2.0/token',
        audience: 'far',
        clientId: 'c',
        clientSecretEnv: 'TOOLMGR_OBO_CLIENT_SECRET_MY_AUTH',
        cacheSkewSeconds: 90,
      },
    });
  });
});

describe('spec.outgoingAuth', () => {
  const OBJECTS = KEYS + header('own') + header('other') + header('general');
  const DEFAULT = `default: { type: externalAuthConfigRef, ${REF('general')} }`;
  const OVERRIDE = `backends: { a: { type: externalAuthConfigRef, ${REF('other')} } }`;
  const DISCOVERED = 'backends: { a: { type: discovered }, b: { type: discovered } }';
  /** Which configuration the backends get: `a` has one of its own, `b` has none. */
  const sources: readonly [string, string | undefined, string | undefined][] = [
    ['', 'own', undefined],
    ['source: discovered', 'own', undefined],
    [`source: discovered, ${DEFAULT}`, 'own', 'general'],
    [`source: discovered, ${DEFAULT}, ${OVERRIDE}`, 'other', 'general'],
    [`source: discovered, ${DEFAULT}, ${DISCOVERED}`, 'own', undefined],
    ['source: discovered, default: { type: discovered }', 'own', undefined],
    ['source: inline', 'own', undefined],
    ['source: inline, default: { type: discovered }', 'own', undefined],
    [`source: inline, ${DEFAULT}`, 'general', 'general'],
    [`source: inline, ${DEFAULT}, ${OVERRIDE}`, 'other', 'general'],
    [`source: inline, ${DEFAULT}, ${DISCOVERED}`, 'own', undefined],
  ];
  it.each(sources)('with {%s} gives a and b the configurations %s and %s', async (outgoing, a, b) => {
    const text = server(`outgoingAuth: { ${outgoing} }`) + OBJECTS + entry('a', REF('own')) + entry('b');
    const { effective } = await resolveYaml(text);
    expect(effective.map(({ authConfigRef }) => authConfigRef)).toEqual([a, b]);
    expect(effective.map(({ authType }) => authType)).toEqual(
      [a, b].map((ref) => (ref === undefined ? 'unauthenticated' : 'header_injection')),
    );
  });

  proves(
    ['vmcp.outgoing-auth.source-discovered', 'vmcp.outgoing-auth.source-inline', 'vmcp.outgoing-auth.backends'],
    'takes the own configuration of a backend with the source discovered, the default with inline, and overrides in both',
    async () => {
      const refsOf = async (outgoing: string) => {
        const text = server(`outgoingAuth: { ${outgoing}, ${DEFAULT} }`) + OBJECTS + entry('a', REF('own'));
        return (await resolveYaml(text)).effective.map(({ authConfigRef }) => authConfigRef);
      };
      expect(await refsOf('source: discovered')).toEqual(['own']);
      expect(await refsOf('source: inline')).toEqual(['general']);
      expect(await refsOf(`source: discovered, ${OVERRIDE}`)).toEqual(['other']);
      expect(await refsOf(`source: inline, ${OVERRIDE}`)).toEqual(['other']);
    },
  );

  proves('vmcp.spec.outgoing-auth-precedence', 'takes precedence over config.outgoingAuth', async () => {
    const inFile =
      'config: { outgoingAuth: { source: discovered, default: { type: header_injection, headerInjection: { headerName: x-file, headerValue: v } } } }';
    const resolution = await resolveYaml(server(`outgoingAuth: { source: inline }, ${inFile}`) + entry('b'));
    const { outgoingAuth } = podOf(resolution).config as { outgoingAuth?: unknown };
    expect(outgoingAuth).toMatchObject({ source: 'inline' });
    expect(JSON.stringify(outgoingAuth)).not.toContain('x-file');
  });

  proves('vmcp.related.external-auth-config', 'uses the MCPExternalAuthConfig of the default', async () => {
    const text = server(`outgoingAuth: { ${DEFAULT} }`) + OBJECTS + entry('a');
    const resolution = await resolveYaml(text);
    expect(resolution.effective).toMatchObject([{ authConfigRef: 'general', authType: 'header_injection' }]);
    const failed = await resolveYaml(server(`outgoingAuth: { ${DEFAULT} }`) + KEYS + entry('a'));
    expect(conditions(failed)).toContain('DefaultAuthConfig=False/ConversionFailed');
    expect(podOf(failed).document?.backends).toEqual([]);
  });

  it('tells overrides, also of names that no backend has', async () => {
    const text = server(`outgoingAuth: { ${OVERRIDE} }`) + OBJECTS + entry('b');
    const resolution = await resolveYaml(text);
    expect(conditions(resolution)).toContain('BackendAuthConfig-a=True/ConversionSucceeded');
    expect(messageOf(resolution, 'BackendAuthConfig-a')).toContain('no backend of the group is named a');
  });

  proves(
    [
      'vmcp.config.outgoing-auth-source-discovered',
      'vmcp.config.backends-empty-when-discovered',
      'vmcp.config.group-ref-filled',
    ],
    'with the source discovered has no backends in the file, whatever spec.config lists, and the group of the spec',
    async () => {
      const config = 'config: { groupRef: other, backends: [{ name: x, url: "https://x", transport: sse }] }';
      const { config: file } = podOf(await resolveYaml(server(config) + entry('a')));
      expect(file).toMatchObject({ groupRef: 'group', outgoingAuth: { source: 'discovered' } });
      expect(file).not.toHaveProperty('backends');
    },
  );

  proves(
    ['vmcp.backends.name-matches-group', 'vmcp.backends.ca-bundle-mount'],
    'with the source inline lists the backends of the group, with CA bundles as files; other names are refused',
    async () => {
      const ca = object(
        'ConfigMap',
        'ca',
        'data: { bundle.pem: "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----" }',
      );
      const listed =
        'config: { backends: [{ name: a, url: "http://localhost:1/mcp", transport: sse, sessions: shared, metadata: { team: x } }] }';
      const own = entry('a', 'caBundleRef: { configMapRef: { name: ca, key: bundle.pem } }');
      const text = ca + own;
      const pod = podOf(await resolveYaml(server(`${listed}, outgoingAuth: { source: inline }`) + text));
      expect(pod.config).toMatchObject({
        backends: [
          {
            name: 'a',
            url: 'https://a.example.com/mcp',
            transport: 'streamable-http',
            type: 'entry',
            sessions: 'shared',
            caBundlePath: '/etc/toolmgr/ca-bundles/a/ca.crt',
            metadata: { team: 'x', tool_type: 'mcp', workload_type: 'server_entry', namespace: 'team' },
          },
        ],
      });
      expect(pod.volumeMounts).toEqual([
        { name: 'ca-bundle-a', mountPath: '/etc/toolmgr/ca-bundles/a', readOnly: true },
      ]);
      const refused = await resolveYaml(
        server(`${listed.replace('name: a', 'name: z')}, outgoingAuth: { source: inline }`) + text,
      );
      expect(messageOf(refused, 'Valid')).toBe('spec.config.backends[0].name: no member of MCPGroup group is named z');
      expect(refused.outcome.result).toBe('failed');
    },
  );

  it('with the source inline waits for the first backend', async () => {
    const resolution = await resolveYaml(server('outgoingAuth: { source: inline }'));
    expect(resolution.outcome).toMatchObject({ result: 'waiting', phase: 'Pending' });
    expect(conditions(resolution)).toContain('BackendsDiscovered=False/BackendDiscoveryFailed');
  });

  it('adds the headers of entries after their strategy', async () => {
    const forward =
      'headerForward: { addPlaintextHeaders: { X-Team: a }, addHeadersFromSecret: [{ headerName: X-Key, valueSecretRef: { name: keys, key: b } }] }';
    const text = OBJECTS + entry('a', `${forward}, ${REF('own')}`);
    const { document } = podOf(await resolveYaml(server() + text));
    const name = 'TOOLMGR_SECRET_HEADER_FORWARD_X_KEY__A__';
    const [backend] = document?.backends ?? [];
    expect(backend?.headers).toEqual({ 'X-Team': 'a' });
    expect(backend?.secretHeaders).toEqual({ 'X-Key': expect.stringMatching(new RegExp(`^${name}[0-9A-F]{16}$`)) });
    expect(Object.values(document?.secrets ?? {})).toEqual([
      { name: 'keys', key: 'a' },
      { name: 'keys', key: 'b' },
    ]);
    const inline = podOf(await resolveYaml(server('outgoingAuth: { source: inline }') + text));
    expect(inline.config).toMatchObject({
      backends: [{ headers: { 'X-Team': 'a' }, headersEnv: { 'X-Key': expect.stringContaining(name) } }],
    });
    expect(inline.env).toHaveLength(2);
    const missing = await resolveYaml(
      server() + header('own') + KEYS.replace('b', 'c') + entry('a', `${forward}, ${REF('own')}`),
    );
    expect(missing.effective).toMatchObject([{ problem: expect.stringContaining('has no key b') }]);
  });

  it('reads secrets again when one has changed, without new pods', async () => {
    const text = server() + header('own') + entry('a', REF('own'));
    const before = podOf(await resolveYaml(text + secret('keys', { a: '1' })));
    const after = podOf(await resolveYaml(text + secret('keys', { a: '2' })));
    expect(after.checksum).toBe(before.checksum);
    expect(after.document?.checksum).not.toBe(before.document?.checksum);
    expect({ ...after.document, checksum: '' }).toEqual({ ...before.document, checksum: '' });
  });
});
