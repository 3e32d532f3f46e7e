import { explainIssues } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { upstreamProviders } from '../../../../plugins/auth-server/upstreams/config.ts';
import { proves } from '../../../support/proves.ts';

type Fields = Readonly<Record<string, unknown>>;

const OAUTH2 = {
  authorizationEndpoint: 'https://login.example/authorize',
  tokenEndpoint: 'https://login.example/token',
  clientId: 'gateway',
};
const OIDC = { issuerUrl: 'https://idp.example', clientId: 'gateway' };

const oauth2 = (fields: Fields = {}, more: Fields = {}) => ({
  name: 'github',
  type: 'oauth2',
  oauth2Config: { ...OAUTH2, ...fields },
  ...more,
});
const oidc = (fields: Fields = {}, more: Fields = {}) => ({
  name: 'corp',
  type: 'oidc',
  oidcConfig: { ...OIDC, ...fields },
  ...more,
});
/** Without the fields that a registered client has not. */
const dcr = (dcrConfig: Fields, fields: Fields = {}) => oauth2({ clientId: undefined, dcrConfig, ...fields });

/** Problems of a list of providers, one sentence each; none when it is valid. */
function problems(...providers: readonly unknown[]): readonly string[] {
  const read = upstreamProviders.safeParse(providers);
  return read.success ? [] : explainIssues('upstreamProviders', upstreamProviders, read.error);
}

function parsedOauth2(fields: Fields = {}) {
  return upstreamProviders.parse([oauth2(fields)])[0]?.oauth2Config;
}

function parsedOidc(fields: Fields = {}) {
  return upstreamProviders.parse([oidc(fields)])[0]?.oidcConfig;
}

const characters = (count: number) => 'a'.repeat(count);
const REFERENCE = { name: 'github-client', key: 'secret' };

describe('an upstream provider', () => {
  proves('vmcp.upstream.name', 'has a unique DNS label of at most 63 characters as its name', () => {
    expect(problems(oidc({}, { name: characters(63) }))).toEqual([]);
    for (const name of [undefined, '', characters(64), 'Corp', 'a_b', '-a', 'a-']) {
      expect(problems(oidc({}, { name })), String(name)).toEqual([
        expect.stringMatching(/^upstreamProviders\[0\]\.name: /),
      ]);
    }
    expect(problems(oidc(), oidc())).toEqual(['upstreamProviders[1].name: "corp" names another provider already']);
  });

  proves('vmcp.upstream.type', 'is of type oidc or oauth2', () => {
    expect(problems(oidc(), oauth2())).toEqual([]);
    for (const type of [undefined, 'saml', 'OIDC']) {
      expect(problems(oidc({}, { type })).join(), String(type)).toContain('upstreamProviders[0].type: ');
    }
  });

  proves('vmcp.upstream.oauth2-config', 'of type oauth2 has an oauth2Config, one of type oidc has none', () => {
    expect(problems(oauth2({}, { oauth2Config: undefined }))).toEqual([
      'upstreamProviders[0].oauth2Config: is required for type oauth2',
    ]);
    expect(problems(oidc({}, { oauth2Config: OAUTH2 }))).toEqual([
      'upstreamProviders[0].oauth2Config: must be absent for type oidc',
    ]);
  });

  proves('vmcp.upstream.oidc-config', 'of type oidc has an oidcConfig, one of type oauth2 has none', () => {
    expect(problems(oidc({}, { oidcConfig: undefined }))).toEqual([
      'upstreamProviders[0].oidcConfig: is required for type oidc',
    ]);
    expect(problems(oauth2({}, { oidcConfig: OIDC }))).toEqual([
      'upstreamProviders[0].oidcConfig: must be absent for type oauth2',
    ]);
  });

  proves('choice.upstream.first-required', 'is required at sign-in by default; the first one must be', () => {
    expect(upstreamProviders.parse([oidc()])[0]?.loginPolicy).toBe('required');
    expect(problems(oidc(), oauth2({}, { loginPolicy: 'onDemand' }))).toEqual([]);
    expect(problems(oidc({}, { loginPolicy: 'onDemand' }), oauth2())).toEqual([
      'upstreamProviders[0].loginPolicy: the first provider names the person and must be required; put a required one first',
    ]);
    expect(problems()).toEqual(['upstreamProviders: expected at least one provider']);
  });

  it('has unknown keys refused, with the nearest known one', () => {
    expect(problems(oidc({ clientSecret: 'x' }))).toEqual([
      'upstreamProviders[0].oidcConfig: unknown key "clientSecret", did you mean "clientSecretRef"?',
    ]);
  });
});

describe('addresses of a provider', () => {
  proves('choice.upstream.addresses', 'are public unless allowPrivateAddresses is set; the message names it', () => {
    expect(problems(oidc({ issuerUrl: 'https://10.0.0.1' }))).toEqual([
      'upstreamProviders[0].oidcConfig.issuerUrl: leads to a private address, which is not allowed (allowPrivateAddresses: true beside the name of the provider allows it)',
    ]);
    expect(problems(oidc({ issuerUrl: 'http://127.0.0.1:8080' }))).toEqual([
      expect.stringContaining(
        '(allowPrivateAddresses: true beside the name of the provider allows it on this machine)',
      ),
    ]);
    expect(problems(oidc({ issuerUrl: 'http://127.0.0.1:8080' }, { allowPrivateAddresses: true }))).toEqual([]);
    expect(problems(oidc({ issuerUrl: 'https://10.0.0.1' }, { allowPrivateAddresses: ['10.0.0.2'] }))).toEqual([]);
    expect(problems(oidc({}, { allowPrivateAddresses: ['https://idp'] })).join()).toContain('expected a host');
  });

  proves('choice.upstream.plain-http', 'take https, and http to other machines only with insecureAllowHTTP', () => {
    const plain = { issuerUrl: 'http://keycloak.auth.svc:8080/realms/corp' };
    expect(problems(oidc(plain, { allowPrivateAddresses: true }))).toEqual([
      expect.stringContaining('(insecureAllowHTTP: true beside the name of the provider allows it, for development)'),
    ]);
    expect(problems(oidc(plain, { insecureAllowHTTP: true }))).toEqual([]);
  });
});

describe('oauth2Config', () => {
  for (const [id, key] of [
    ['vmcp.upstream.oauth2.authorization-endpoint', 'authorizationEndpoint'],
    ['vmcp.upstream.oauth2.token-endpoint', 'tokenEndpoint'],
  ] as const) {
    proves(id, `has an http or https URL as ${key}`, () => {
      expect(problems(oauth2({ [key]: 'https://login.example:8443/x?y=z' }))).toEqual([]);
      expect(problems(oauth2({ [key]: 'http://login.example/x' }, { insecureAllowHTTP: true }))).toEqual([]);
      for (const url of [undefined, '', '/token', 'ftp://login.example', 'login.example', 'https://login.example/#a']) {
        expect(problems(oauth2({ [key]: url })), String(url)).toEqual([
          expect.stringContaining(`upstreamProviders[0].oauth2Config.${key}: `),
        ]);
      }
    });
  }

  proves('vmcp.upstream.oauth2.client-id', 'has a clientId or a dcrConfig, not both', () => {
    const discoveryUrl = 'https://login.example/.well-known/openid-configuration';
    expect(problems(dcr({ discoveryUrl }))).toEqual([]);
    expect(problems(dcr({ discoveryUrl }, { clientId: '' }))).toEqual([]);
    expect(problems(dcr({ discoveryUrl }, { clientId: 'gateway' }))).toEqual([
      'upstreamProviders[0].oauth2Config.clientId: must be empty, because dcrConfig registers a client',
    ]);
    expect(problems(dcr({ discoveryUrl }, { clientSecretRef: REFERENCE }))).toEqual([
      expect.stringContaining('clientSecretRef: must be absent'),
    ]);
    expect(problems(oauth2({ clientId: undefined }))).toEqual([expect.stringContaining('clientId: is required')]);
  });

  proves('vmcp.upstream.oauth2.client-secret-ref', 'takes a client secret by name and key, or none', () => {
    expect(parsedOauth2()?.clientSecretRef).toBeUndefined();
    expect(parsedOauth2({ clientSecretRef: REFERENCE })?.clientSecretRef).toEqual(REFERENCE);
    expect(problems(oauth2({ clientSecretRef: { name: 'github-client' } })).join()).toContain('clientSecretRef.key');
  });

  proves('vmcp.upstream.oauth2.scopes', 'takes a list of scopes', () => {
    expect(parsedOauth2()?.scopes).toEqual([]);
    expect(parsedOauth2({ scopes: ['repo', 'read:user'] })?.scopes).toEqual(['repo', 'read:user']);
    expect(problems(oauth2({ scopes: ['a b'] })).join()).toContain('scopes[0]: expected a scope');
    expect(problems(oauth2({ scopes: 'repo' })).join()).toContain('oauth2Config.scopes: ');
  });

  it('refuses a redirectUri with a query or a fragment', () => {
    for (const url of ['https://gateway.example/callback?a=b', 'https://gateway.example/callback#a', '/callback']) {
      expect(problems(oauth2({ redirectUri: url })).join(), url).toContain('oauth2Config.redirectUri: ');
    }
  });
});

describe('additionalAuthorizationParams', () => {
  const FORBIDDEN = 'response_type client_id redirect_uri scope state code_challenge code_challenge_method nonce'.split(
    ' ',
  );
  for (const [id, provider, key] of [
    ['vmcp.upstream.oauth2.forbidden-params', oauth2, 'oauth2Config'],
    ['vmcp.upstream.oidc.forbidden-params', oidc, 'oidcConfig'],
  ] as const) {
    proves(id, `of ${key} refuses the parameters of the gateway by their names`, () => {
      expect(problems(provider({ additionalAuthorizationParams: { access_type: 'offline' } }))).toEqual([]);
      const all = Object.fromEntries([...FORBIDDEN, 'prompt'].map((name) => [name, 'x']));
      expect(problems(provider({ additionalAuthorizationParams: all }))).toEqual(
        FORBIDDEN.map(
          (name) =>
            `upstreamProviders[0].${key}.additionalAuthorizationParams.${name}: the gateway sets this parameter itself; remove it`,
        ),
      );
    });
  }
});

describe('dcrConfig', () => {
  const URL_ONLY = 'https://login.example/meta';

  proves('vmcp.upstream.dcr.discovery-url', 'has an https discoveryUrl without a slash at its end', () => {
    expect(problems(dcr({ discoveryUrl: `${URL_ONLY}${characters(2048 - URL_ONLY.length)}` }))).toEqual([]);
    for (const discoveryUrl of [
      `${URL_ONLY}/`,
      `${URL_ONLY}${characters(2049 - URL_ONLY.length)}`,
      'http://login.example/meta',
      'meta',
    ]) {
      expect(problems(dcr({ discoveryUrl })), discoveryUrl).not.toEqual([]);
    }
  });

  proves('vmcp.upstream.dcr.registration-endpoint', 'has an https registrationEndpoint', () => {
    const scopes = ['repo'];
    const long = `${URL_ONLY}${characters(2048 - URL_ONLY.length)}`;
    expect(problems(dcr({ registrationEndpoint: long }, { scopes }))).toEqual([]);
    for (const registrationEndpoint of [`${long}a`, 'http://login.example/register', 'register']) {
      expect(problems(dcr({ registrationEndpoint }, { scopes })), registrationEndpoint).not.toEqual([]);
    }
  });

  proves('vmcp.upstream.dcr.discovery-exclusive', 'has exactly one of discoveryUrl and registrationEndpoint', () => {
    const message =
      'upstreamProviders[0].oauth2Config.dcrConfig: set exactly one of discoveryUrl and registrationEndpoint';
    const both = { discoveryUrl: URL_ONLY, registrationEndpoint: URL_ONLY };
    expect(problems(dcr(both, { scopes: ['repo'] }))).toEqual([message]);
    expect(problems(dcr({}))).toEqual([message]);
  });

  proves(
    'vmcp.upstream.dcr.registration-endpoint-needs',
    'needs endpoints and scopes with registrationEndpoint',
    () => {
      const without = { authorizationEndpoint: undefined, tokenEndpoint: undefined };
      expect(problems(dcr({ registrationEndpoint: URL_ONLY }, without))).toEqual([
        expect.stringContaining('oauth2Config.authorizationEndpoint: is required'),
        expect.stringContaining('oauth2Config.tokenEndpoint: is required'),
        expect.stringContaining('oauth2Config.scopes: is required with dcrConfig.registrationEndpoint'),
      ]);
      expect(problems(dcr({ discoveryUrl: URL_ONLY }, without))).toEqual([]);
    },
  );

  proves('vmcp.upstream.dcr.software-id', 'has a softwareId of at most 255 characters', () => {
    expect(problems(dcr({ discoveryUrl: URL_ONLY, softwareId: characters(255) }))).toEqual([]);
    expect(problems(dcr({ discoveryUrl: URL_ONLY, softwareId: characters(256) }))).toHaveLength(1);
  });

  proves('vmcp.upstream.dcr.software-statement', 'has a softwareStatement of at most 16384 characters', () => {
    expect(problems(dcr({ discoveryUrl: URL_ONLY, softwareStatement: characters(16_384) }))).toEqual([]);
    expect(problems(dcr({ discoveryUrl: URL_ONLY, softwareStatement: characters(16_385) }))).toHaveLength(1);
  });
});

describe('identityFromToken', () => {
  proves('vmcp.upstream.identity.subject-path', 'has a subjectPath of 1 to 256 characters', () => {
    for (const subjectPath of ['a', characters(256), 'authed_user.id', 'access_token|@upstreamjwt|sub', 'a\\.b']) {
      expect(problems(oauth2({ identityFromToken: { subjectPath } })), subjectPath).toEqual([]);
    }
    for (const subjectPath of [undefined, '', characters(257), 'a..b', '.a', 'a.', 'a|@base64', 'a\\']) {
      expect(problems(oauth2({ identityFromToken: { subjectPath } })).join(), String(subjectPath)).toContain(
        'identityFromToken.subjectPath: ',
      );
    }
  });

  proves('vmcp.upstream.identity.name-and-email-path', 'has a namePath and an emailPath of 1 to 256 characters', () => {
    for (const key of ['namePath', 'emailPath']) {
      const given = (value: string) => problems(oauth2({ identityFromToken: { subjectPath: 'id', [key]: value } }));
      expect(given(characters(256))).toEqual([]);
      expect(given('')).not.toEqual([]);
      expect(given(characters(257))).not.toEqual([]);
    }
  });
});

describe('tokenResponseMapping', () => {
  proves('vmcp.upstream.token-response.access-token-path', 'has an accessTokenPath that is not empty', () => {
    expect(problems(oauth2({ tokenResponseMapping: { accessTokenPath: 'a' } }))).toEqual([]);
    for (const accessTokenPath of [undefined, '']) {
      expect(problems(oauth2({ tokenResponseMapping: { accessTokenPath } })).join()).toContain('accessTokenPath: ');
    }
  });
});

describe('userInfo', () => {
  const given = (fields: Fields) =>
    problems(oauth2({ userInfo: { endpointUrl: 'https://api.example/me', ...fields } }));
  const parsed = parsedOauth2({ userInfo: { endpointUrl: 'https://api.example/me' } })?.userInfo;

  proves('vmcp.upstream.user-info.endpoint-url', 'has an http or https URL as endpointUrl', () => {
    expect(given({})).toEqual([]);
    for (const endpointUrl of [undefined, '', 'me', 'ftp://api.example']) {
      expect(given({ endpointUrl }).join(), String(endpointUrl)).toContain('userInfo.endpointUrl: ');
    }
  });

  proves('vmcp.upstream.user-info.http-method', 'has GET or POST as httpMethod, GET by default', () => {
    expect(parsed?.httpMethod).toBe('GET');
    expect(given({ httpMethod: 'POST' })).toEqual([]);
    expect(given({ httpMethod: 'PUT' })).not.toEqual([]);
  });

  proves('vmcp.upstream.user-info.additional-headers', 'has a map of texts as additionalHeaders', () => {
    expect(given({ additionalHeaders: { 'X-Api-Version': '2' } })).toEqual([]);
    for (const additionalHeaders of [
      { a: 1 },
      { 'a b': 'c' },
      { a: 'b\r\nc' },
      { Authorization: 'x' },
      { Host: 'x' },
      ['a'],
    ]) {
      expect(given({ additionalHeaders }), JSON.stringify(additionalHeaders)).not.toEqual([]);
    }
  });

  for (const [id, key, first] of [
    ['vmcp.upstream.user-info.subject-fields', 'subjectFields', 'sub'],
    ['vmcp.upstream.user-info.name-fields', 'nameFields', 'name'],
    ['vmcp.upstream.user-info.email-fields', 'emailFields', 'email'],
  ] as const) {
    proves(id, `has ${first} as the default of ${key}`, () => {
      expect(parsed?.fieldMapping[key]).toEqual([first]);
      const some = parsedOauth2({
        userInfo: { endpointUrl: 'https://api.example/me', fieldMapping: { [key]: ['a', 'b'] } },
      });
      expect(some?.userInfo?.fieldMapping[key]).toEqual(['a', 'b']);
    });
  }
});

describe('oidcConfig', () => {
  proves('vmcp.upstream.oidc.client-id', 'has a clientId', () => {
    for (const clientId of [undefined, '']) {
      expect(problems(oidc({ clientId })).join()).toContain('oidcConfig.clientId: ');
    }
  });

  proves('vmcp.upstream.oidc.client-secret-ref', 'takes a client secret by name and key', () => {
    expect(parsedOidc({ clientSecretRef: REFERENCE })?.clientSecretRef).toEqual(REFERENCE);
    expect(problems(oidc({ clientSecretRef: 'secret' }))).not.toEqual([]);
  });

  proves('vmcp.upstream.oidc.scopes', 'asks for openid and offline_access by default', () => {
    expect(parsedOidc()?.scopes).toEqual(['openid', 'offline_access']);
    expect(parsedOidc({ scopes: ['openid', 'email'] })?.scopes).toEqual(['openid', 'email']);
    expect(problems(oidc({ scopes: ['email'] })).join()).toContain('expected openid among the scopes');
  });

  proves(
    ['vmcp.upstream.oidc.subject-claim', 'vmcp.upstream.oidc.subject-claim-default'],
    'has a claim name as subjectClaim; an empty one means sub',
    () => {
      for (const subjectClaim of ['oid', '_a1', characters(128)]) {
        expect(parsedOidc({ subjectClaim })?.subjectClaim).toBe(subjectClaim);
      }
      expect(parsedOidc()?.subjectClaim).toBe('sub');
      expect(parsedOidc({ subjectClaim: '' })?.subjectClaim).toBe('sub');
      for (const subjectClaim of ['1a', 'a.b', 'a-b', characters(129)]) {
        expect(problems(oidc({ subjectClaim })), subjectClaim).toHaveLength(1);
      }
    },
  );

  proves('vmcp.upstream.oidc.user-info-override', 'takes the shape of userInfo as userInfoOverride', () => {
    const userInfoOverride = {
      endpointUrl: 'https://api.example/me',
      httpMethod: 'POST',
      additionalHeaders: { 'X-Api-Version': '2' },
      fieldMapping: { subjectFields: ['id'], nameFields: ['login'], emailFields: ['mail'] },
    };
    expect(parsedOidc({ userInfoOverride })?.userInfoOverride).toEqual(userInfoOverride);
    expect(problems(oidc({ userInfoOverride, subjectClaim: 'oid' })).join()).toContain('set only one of subjectClaim');
    expect(problems(oidc({ userInfoOverride: {} })).join()).toContain('userInfoOverride.endpointUrl: ');
  });
});
