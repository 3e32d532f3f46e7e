import { createHash } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { Upstream, UpstreamTokenSet } from '../../../../plugins/auth-server/upstreams/upstream.ts';
import { base64url } from '../../../support/identity-provider.ts';
import { proves } from '../../../support/proves.ts';
import { CALLBACK, type Got, newLeg, scriptedProvider, soon, upstreamOf } from './support.ts';

const ENVIRONMENT = { GITHUB_SECRET: 'secret-of-the-gateway' };
const TOKEN = { access_token: 'gho_token', token_type: 'bearer' };

/** A provider with these answers, and the gateway's upstream for it. */
async function provider(
  answers: Readonly<Record<string, (got: Got) => unknown>>,
  fields: JsonObject = {},
  settings: { readonly isPublic?: boolean } = {},
) {
  const server = await scriptedProvider(answers);
  const upstream = await upstreamOf(
    {
      name: 'github',
      type: 'oauth2',
      oauth2Config: {
        authorizationEndpoint: `${server.url}/authorize`,
        tokenEndpoint: `${server.url}/token`,
        clientId: 'gateway',
        ...(settings.isPublic === true ? {} : { clientSecretRef: { env: 'GITHUB_SECRET' } }),
        ...fields,
        ...('userInfo' in fields
          ? { userInfo: { endpointUrl: `${server.url}/user`, ...(fields.userInfo as object) } }
          : {}),
      },
    },
    { environment: ENVIRONMENT },
  );
  return { ...server, upstream };
}

/** The provider sends the browser back with a code. */
function exchanged(upstream: Upstream, leg = newLeg()) {
  return upstream.exchange(new URLSearchParams({ code: 'the-code', state: leg.state }), leg, soon());
}

/** What the tokens of a set are. */
function revealed({ accessToken, refreshToken, idToken, ...rest }: UpstreamTokenSet) {
  return { access: accessToken.reveal(), refresh: refreshToken?.reveal(), id: idToken?.reveal(), ...rest };
}

const jwt = (claims: JsonObject) => `${base64url({ alg: 'none' })}.${base64url(claims)}.c2ln`;

describe('an OAuth 2.0 provider', () => {
  proves(
    ['vmcp.upstream.oauth2.redirect-uri', 'vmcp.upstream.oauth2.additional-params-sent'],
    'gets the default redirect, PKCE and the additional parameters',
    async () => {
      const { upstream, url } = await provider(
        {},
        { scopes: ['repo', 'user'], additionalAuthorizationParams: { login: 'x' } },
      );
      const leg = newLeg();
      const asked = new URL(await upstream.authorizationUrl(leg, soon()));
      expect(asked.origin + asked.pathname).toBe(`${url}/authorize`);
      expect(Object.fromEntries(asked.searchParams)).toEqual({
        client_id: 'gateway',
        response_type: 'code',
        redirect_uri: CALLBACK,
        scope: 'repo user',
        state: leg.state,
        code_challenge: createHash('sha256').update(leg.codeVerifier).digest('base64url'),
        code_challenge_method: 'S256',
        login: 'x',
      });
      const other = await provider({}, { redirectUri: 'https://other.example/back' });
      const { searchParams } = new URL(await other.upstream.authorizationUrl(leg, soon()));
      expect(searchParams.get('redirect_uri')).toBe('https://other.example/back');
      expect(searchParams.has('scope')).toBe(false);
    },
  );

  it('gets the code with the secret in the body, the verifier and the redirect', async () => {
    const { upstream, got } = await provider({ '/token': () => TOKEN });
    const leg = newLeg();
    await exchanged(upstream, leg);
    expect(got).toHaveLength(1);
    expect(Object.fromEntries(got[0]?.form ?? [])).toEqual({
      grant_type: 'authorization_code',
      code: 'the-code',
      redirect_uri: CALLBACK,
      code_verifier: leg.codeVerifier,
      client_id: 'gateway',
      client_secret: 'secret-of-the-gateway',
    });
    expect(got[0]?.headers.authorization).toBeUndefined();
  });

  it('gets no secret of a public client', async () => {
    const { upstream, got } = await provider({ '/token': () => TOKEN }, {}, { isPublic: true });
    await exchanged(upstream);
    expect(got[0]?.form.has('client_secret')).toBe(false);
    expect(got[0]?.form.get('client_id')).toBe('gateway');
  });

  proves(
    'vmcp.upstream.oauth2.synthesis-mode',
    'without identity makes the subject from the access token',
    async () => {
      const { upstream } = await provider({ '/token': () => TOKEN });
      const { identity } = await exchanged(upstream);
      const hash = createHash('sha256').update('gho_token').digest('hex');
      expect(identity).toEqual({ subject: `tk-${hash.slice(0, 32)}`, isSynthetic: true, claims: {} });
    },
  );

  it('without identity is warned about when it names the person', async () => {
    const oauth2Config = {
      authorizationEndpoint: 'https://a.example',
      tokenEndpoint: 'https://a.example',
      clientId: 'a',
    };
    const log: string[] = [];
    await upstreamOf({ type: 'oauth2', oauth2Config }, { log });
    await upstreamOf(
      { type: 'oauth2', oauth2Config: { ...oauth2Config, identityFromToken: { subjectPath: 'id' } } },
      { log },
    );
    expect(log).toEqual([expect.stringContaining('each sign-in makes a new person')]);
  });

  it('answers that are not quite standard are read', async () => {
    const cases: readonly (readonly [JsonObject, object])[] = [
      [
        { ...TOKEN, token_type: 'Bearer', expires_in: '3600', refresh_token: '' },
        { access: 'gho_token', refresh: undefined },
      ],
      [{ ...TOKEN, expires_in: null, refresh_token: null, scope: null }, { scope: 'repo read:user' }],
      [{ ...TOKEN, scope: 'repo,read:user' }, { scope: 'repo read:user' }],
      [{ ...TOKEN, scope: ['repo'], expires_in: 'soon' }, { scope: 'repo' }],
      [{ ...TOKEN, id_token: 'not a token' }, { id: undefined }],
    ];
    for (const [answer, expected] of cases) {
      const { upstream } = await provider({ '/token': () => answer }, { scopes: ['repo', 'read:user'] });
      expect(revealed((await exchanged(upstream)).tokens), JSON.stringify(answer)).toMatchObject(expected);
    }
  });

  it('a form as an answer is read, as GitHub sends it', async () => {
    const form = 'access_token=gho_form&scope=repo%2Cgist&token_type=bearer&refresh_token=ghr_1&expires_in=28800';
    const { upstream } = await provider({
      '/token': ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }).end(form);
      },
    });
    const { tokens } = await exchanged(upstream);
    expect(revealed(tokens)).toMatchObject({ access: 'gho_form', refresh: 'ghr_1', scope: 'repo gist' });
    expect(tokens.expiresMs).toBeGreaterThan(Date.now() + 28_000_000);
  });

  it('an error with status 200 is a refusal, as GitHub sends it', async () => {
    const { upstream } = await provider({
      '/token': () => ({
        error: 'bad_verification_code',
        error_description: 'The code passed is incorrect or expired.',
      }),
    });
    await expect(exchanged(upstream)).rejects.toMatchObject({
      name: 'UpstreamRefusal',
      message: 'upstream github: issues no tokens for this sign-in (invalid_grant)',
    });
  });

  it('a token that is no bearer token is not accepted', async () => {
    for (const answer of [
      { ...TOKEN, token_type: 'mac' },
      { access_token: 'x' },
      { token_type: 'bearer' },
      { ...TOKEN, access_token: 'a\nb' },
    ]) {
      const { upstream } = await provider({ '/token': () => answer });
      await expect(exchanged(upstream), JSON.stringify(answer)).rejects.toThrow(
        /^upstream github: its answer is invalid/,
      );
    }
  });

  proves(
    'choice.upstream.client-methods',
    'asks with HTTP Basic from then on when the secret in the body is not accepted',
    async () => {
      const { upstream, got } = await provider({
        '/token': ({ headers, response }) => {
          if (headers.authorization !== undefined) return TOKEN;
          response.writeHead(401, { 'www-authenticate': 'Basic' }).end('{"error":"invalid_client"}');
          return undefined;
        },
      });
      await exchanged(upstream);
      await exchanged(upstream);
      expect(got.map(({ form }) => form.has('client_secret'))).toEqual([true, false, false]);
    },
  );
});

describe('userInfo', () => {
  const USER = { id: 42, login: 'ada', name: '', email: null, data: { mail: 'ada@example.com' } };

  proves(
    'vmcp.upstream.user-info.first-wins',
    'gives the identity by the first value of each list that is not empty',
    async () => {
      const fieldMapping = {
        subjectFields: ['sub', 'id'],
        nameFields: ['name', 'login'],
        emailFields: ['email', 'data.mail'],
      };
      const { upstream, got } = await provider(
        { '/token': () => TOKEN, '/user': () => USER },
        { userInfo: { fieldMapping } },
      );
      const { identity } = await exchanged(upstream);
      expect(identity).toEqual({
        subject: '42',
        name: 'ada',
        email: 'ada@example.com',
        isSynthetic: false,
        claims: USER,
      });
      expect(got.at(-1)).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer gho_token' } });
    },
  );

  it('is asked with the configured method and headers', async () => {
    const { upstream, got } = await provider(
      { '/token': () => TOKEN, '/user': () => ({ sub: 'U1' }) },
      {
        userInfo: {
          httpMethod: 'POST',
          additionalHeaders: { 'X-Version': '2026-01-01', Accept: 'application/vnd.x+json' },
        },
      },
    );
    expect((await exchanged(upstream)).identity.subject).toBe('U1');
    expect(got.at(-1)).toMatchObject({
      method: 'POST',
      headers: {
        accept: 'application/vnd.x+json',
        'x-version': '2026-01-01',
        authorization: 'Bearer gho_token',
      },
    });
  });

  it('without a subject, or that refuses the token, refuses the sign-in', async () => {
    const none = await provider({ '/token': () => TOKEN, '/user': () => ({ name: 'Ada' }) }, { userInfo: {} });
    await expect(exchanged(none.upstream)).rejects.toThrow('userinfo has none of subjectFields (invalid_response)');
    const refuses = await provider(
      { '/token': () => TOKEN, '/user': ({ response }) => void response.writeHead(403).end() },
      { userInfo: {} },
    );
    await expect(exchanged(refuses.upstream)).rejects.toMatchObject({ name: 'UpstreamRefusal', code: 'access_denied' });
    const away = await provider(
      { '/token': () => TOKEN, '/user': ({ response }) => void response.writeHead(503).end() },
      { userInfo: {} },
    );
    await expect(exchanged(away.upstream)).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
  });
});

describe('identityFromToken', () => {
  proves(
    'vmcp.upstream.identity.skips-userinfo',
    'reads the identity from the token response, without userinfo',
    async () => {
      const answer = { ...TOKEN, user: { id: 'U1', profile: { name: 'Ada' }, emails: [{ value: 'ada@example.com' }] } };
      const { upstream, got } = await provider(
        { '/token': () => answer, '/user': () => ({ sub: 'other' }) },
        {
          userInfo: {},
          identityFromToken: {
            subjectPath: 'user.id',
            namePath: 'user.profile.name',
            emailPath: 'user.emails.0.value',
          },
        },
      );
      const { identity } = await exchanged(upstream);
      expect(identity).toMatchObject({ subject: 'U1', name: 'Ada', email: 'ada@example.com', isSynthetic: false });
      expect(got.map(({ path }) => path)).toEqual(['/token']);
    },
  );

  proves(
    'vmcp.upstream.identity.upstreamjwt',
    'decodes a JWT with @upstreamjwt, whatever its signature is',
    async () => {
      const answer = { ...TOKEN, access_token: jwt({ sub: 'S1', ext: { mail: 'a@b.example' } }) };
      const identityFromToken = {
        subjectPath: 'access_token|@upstreamjwt|sub',
        emailPath: 'access_token|@upstreamjwt|ext.mail',
      };
      const { upstream } = await provider({ '/token': () => answer }, { identityFromToken });
      expect((await exchanged(upstream)).identity).toMatchObject({
        subject: 'S1',
        email: 'a@b.example',
        claims: { sub: 'S1' },
      });
      const opaque = await provider({ '/token': () => TOKEN }, { identityFromToken });
      await expect(exchanged(opaque.upstream)).rejects.toThrow('the token response has no text at subjectPath');
    },
  );

  proves('vmcp.upstream.identity.omitted', 'omits a name and an email that are no texts', async () => {
    const answer = { ...TOKEN, id: 'U1', name: 7, email: { primary: 'x' } };
    const identityFromToken = { subjectPath: 'id', namePath: 'name', emailPath: 'email' };
    const { upstream } = await provider({ '/token': () => answer }, { identityFromToken });
    expect((await exchanged(upstream)).identity).toEqual({ subject: 'U1', isSynthetic: false, claims: {} });
    const numeric = await provider({ '/token': () => ({ ...answer, id: 7 }) }, { identityFromToken });
    await expect(exchanged(numeric.upstream)).rejects.toMatchObject({ code: 'invalid_response' });
  });
});

describe('tokenResponseMapping', () => {
  const SLACK = {
    ok: true,
    token_type: 'bot',
    access_token: 'xoxb-bot',
    authed_user: {
      id: 'U1',
      access_token: 'xoxp-user',
      refresh_token: 'xoxe-1',
      expires_in: 43_200,
      scope: 'chat:write,users:read',
    },
  };

  proves('vmcp.upstream.token-response.direct-call', 'reads tokens out of an answer that is not standard', async () => {
    const { upstream, got } = await provider(
      { '/token': () => SLACK },
      {
        tokenResponseMapping: {
          accessTokenPath: 'authed_user.access_token',
          expiresInPath: 'authed_user.expires_in',
          refreshTokenPath: 'authed_user.refresh_token',
          scopePath: 'authed_user.scope',
        },
        identityFromToken: { subjectPath: 'authed_user.id' },
      },
    );
    const { identity, tokens } = await exchanged(upstream);
    expect(got).toHaveLength(1);
    expect(identity.subject).toBe('U1');
    expect(revealed(tokens)).toMatchObject({ access: 'xoxp-user', refresh: 'xoxe-1', scope: 'chat:write users:read' });
    expect(tokens.expiresMs).toBeGreaterThan(Date.now() + 43_000_000);
    expect(tokens.expiresMs).toBeLessThanOrEqual(Date.now() + 43_200_000);
  });

  for (const [id, field, member, expected] of [
    ['vmcp.upstream.token-response.expires-in-path', 'expires_in', 'expiresMs', expect.any(Number)],
    ['vmcp.upstream.token-response.refresh-token-path', 'refresh_token', 'refresh', 'r1'],
    ['vmcp.upstream.token-response.scope-path', 'scope', 'scope', 'a b'],
  ] as const) {
    proves(id, `reads ${field} by default`, async () => {
      const answer = { nested: { token: 'x' }, [field]: { expires_in: 60, refresh_token: 'r1', scope: 'a b' }[field] };
      const { upstream } = await provider(
        { '/token': () => answer },
        { tokenResponseMapping: { accessTokenPath: 'nested.token' } },
      );
      expect(revealed((await exchanged(upstream)).tokens)).toMatchObject({ access: 'x', [member]: expected });
    });
  }

  it('also maps the answer to a refresh', async () => {
    const { upstream, got } = await provider(
      { '/token': () => ({ data: { token: 'new' } }) },
      { tokenResponseMapping: { accessTokenPath: 'data.token', refreshTokenPath: 'data.refresh' } },
    );
    const { tokens } = await exchanged(upstream);
    const old = { ...tokens, refreshToken: tokens.accessToken };
    expect(revealed((await upstream.refresh(old, soon())).tokens)).toMatchObject({ access: 'new', refresh: 'new' });
    expect(got.at(-1)?.form.get('grant_type')).toBe('refresh_token');
  });

  it('an error with status 200 is a refusal, as Slack sends it', async () => {
    const { upstream } = await provider(
      { '/token': () => ({ ok: false, error: 'invalid_code' }) },
      { tokenResponseMapping: { accessTokenPath: 'authed_user.access_token' } },
    );
    await expect(exchanged(upstream)).rejects.toMatchObject({ name: 'UpstreamRefusal', code: 'invalid_grant' });
  });
});

describe('a refresh at an OAuth 2.0 provider', () => {
  /** Answers the sign-in with a refresh token and each refresh with the next of `answers`. */
  async function refreshing(answers: readonly ((got: Got) => unknown)[], scopes: readonly string[] = ['repo', 'gist']) {
    const rest = [...answers];
    const made = await provider(
      {
        '/token': (got) =>
          got.form.get('grant_type') === 'refresh_token'
            ? rest.shift()?.(got)
            : { ...TOKEN, refresh_token: 'r1', scope: 'repo' },
      },
      { scopes: [...scopes] },
    );
    return { ...made, tokens: (await exchanged(made.upstream)).tokens };
  }

  const status =
    (code: number, body: JsonObject = {}) =>
    ({ response }: Got) =>
      void response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  it('sends the scopes and keeps the old refresh token when the answer has none', async () => {
    const { upstream, tokens, got } = await refreshing([() => ({ ...TOKEN, access_token: 'gho_2', scope: '' })]);
    const { tokens: fresh } = await upstream.refresh(tokens, soon());
    expect(got.at(-1)?.form.get('scope')).toBe('repo gist');
    expect(revealed(fresh)).toMatchObject({ access: 'gho_2', refresh: 'r1', clientId: 'gateway', scope: 'repo' });
  });

  proves('choice.upstream.refresh-scopes', 'is repeated without scopes when the provider granted fewer', async () => {
    const { upstream, tokens, got } = await refreshing([status(400, { error: 'invalid_scope' }), () => TOKEN]);
    await upstream.refresh(tokens, soon());
    expect(got.slice(-2).map(({ form }) => form.get('scope'))).toEqual(['repo gist', null]);
  });

  for (const error of ['invalid_grant', 'bad_refresh_token', 'invalid_refresh_token', 'token_revoked']) {
    proves('choice.upstream.refusal-or-outage', `with ${error} is a refusal`, async () => {
      const { upstream, tokens } = await refreshing([status(400, { error })]);
      await expect(upstream.refresh(tokens, soon())).rejects.toMatchObject({
        name: 'UpstreamRefusal',
        code: 'invalid_grant',
      });
    });
  }

  for (const [what, answer] of [
    ['status 500', status(500)],
    ['status 500 and invalid_grant', status(500, { error: 'invalid_grant' })],
    ['status 503', status(503)],
    ['status 429', status(429, { error: 'invalid_grant' })],
    ['temporarily_unavailable', status(400, { error: 'temporarily_unavailable' })],
    [
      'a page',
      ({ response }: Got) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Maintenance</p>'),
    ],
    ['an empty object', () => ({})],
    ['status 403 of a firewall', ({ response }: Got) => void response.writeHead(403).end('blocked')],
    ['status 403 and JSON of a firewall', status(403, { error: 'blocked' })],
    ['invalid_client', status(401, { error: 'invalid_client' })],
    ['unauthorized_client', status(400, { error: 'unauthorized_client' })],
    ['a closed connection', ({ response }: Got) => void response.destroy()],
  ] as const) {
    proves('choice.upstream.refusal-or-outage', `with ${what} is no refusal`, async () => {
      const { upstream, tokens } = await refreshing([answer, answer]);
      await expect(upstream.refresh(tokens, soon())).rejects.toMatchObject({ name: 'GatewayFault' });
    });
  }

  it('without a refresh token, or for another client id, is a refusal without a request', async () => {
    const { upstream, tokens, got } = await refreshing([]);
    const { refreshToken: _none, ...without } = tokens;
    const before = got.length;
    await expect(upstream.refresh(without, soon())).rejects.toMatchObject({ code: 'invalid_grant' });
    await expect(upstream.refresh({ ...tokens, clientId: 'earlier' }, soon())).rejects.toMatchObject({
      code: 'invalid_grant',
    });
    expect(got).toHaveLength(before);
  });
});
