import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UpstreamRefusal } from '../../../../plugins/auth-server/upstreams/upstream.ts';
import {
  type IdentityProvider,
  type IdentityProviderOptions,
  identityProvider,
} from '../../../support/identity-provider.ts';
import { proves } from '../../../support/proves.ts';
import { CALLBACK, callbackOf, newLeg, signIn, soon, upstreamOf } from './support.ts';

const SECRET = 'canary-secret-of-the-gateway';
const ENVIRONMENT = { CORP_SECRET: SECRET };

/** oidc-provider with the gateway as one of its clients. */
async function provider(options: IdentityProviderOptions = {}, client: JsonObject = {}): Promise<IdentityProvider> {
  const { configure = (same) => same, ...others } = options;
  const started = await identityProvider({
    ...others,
    configure: (given) =>
      configure({
        ...given,
        rotateRefreshToken: true,
        scopes: ['openid', 'offline_access', 'profile', 'email'],
        claims: { openid: ['sub', 'groups'], profile: ['name'], email: ['email'] },
        conformIdTokenClaims: false,
        features: { ...given.features, revocation: { enabled: true } },
        clients: [
          ...(given.clients ?? []),
          {
            client_id: 'toolmgr',
            client_secret: SECRET,
            grant_types: ['authorization_code', 'refresh_token'],
            redirect_uris: [CALLBACK],
            response_types: ['code'],
            token_endpoint_auth_method: 'client_secret_post',
            ...client,
          },
        ],
      }),
  });
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

/** oidc-provider ignores offline_access without consent. */
const CONSENT = { additionalAuthorizationParams: { prompt: 'consent' } };

function corp(issuerUrl: string, fields: JsonObject = {}): JsonObject {
  return {
    type: 'oidc',
    oidcConfig: {
      issuerUrl,
      clientId: 'toolmgr',
      clientSecretRef: { name: 'corp', key: 'secret' },
      ...CONSENT,
      ...fields,
    },
  };
}

const upstream = (issuer: string, fields: JsonObject = {}) =>
  upstreamOf(corp(issuer, fields), { environment: ENVIRONMENT });

describe('an OpenID Connect provider', () => {
  proves('vmcp.upstream.oidc.issuer-url', 'is discovered and signs a person in', async () => {
    const idp = await provider();
    const { identity, tokens } = await signIn(
      await upstream(idp.issuer, { scopes: ['openid', 'offline_access', 'profile', 'email'] }),
    );
    expect(identity).toMatchObject({ subject: 'ada', name: 'Ada', email: 'ada@example.com', isSynthetic: false });
    expect(identity.claims).toMatchObject({ sub: 'ada' });
    expect(tokens).toMatchObject({ clientId: 'toolmgr', idTokenSubject: 'ada' });
    expect(tokens.refreshToken?.reveal()).toBeTruthy();
    expect(tokens.expiresMs).toBeGreaterThan(Date.now() + 3_000_000);
    expect(idp.seen).toContain('GET /.well-known/openid-configuration');
    expect(JSON.stringify({ identity, tokens })).not.toContain(tokens.accessToken.reveal());
  });

  proves(
    ['vmcp.upstream.oidc.redirect-uri', 'vmcp.upstream.oidc.additional-params-sent'],
    'gets the default redirect and the additional parameters',
    async () => {
      const idp = await provider();
      const leg = newLeg();
      const made = await upstream(idp.issuer, {
        additionalAuthorizationParams: { prompt: 'consent', hd: 'corp.example' },
      });
      const { searchParams, pathname } = new URL(await made.authorizationUrl(leg, soon()));
      expect(pathname).toBe('/auth');
      expect(Object.fromEntries(searchParams)).toEqual({
        client_id: 'toolmgr',
        response_type: 'code',
        redirect_uri: CALLBACK,
        scope: 'openid offline_access',
        state: leg.state,
        nonce: leg.nonce,
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: 'S256',
        prompt: 'consent',
        hd: 'corp.example',
      });
      const other = await upstream(idp.issuer, { redirectUri: 'https://other.example/back' });
      expect(new URL(await other.authorizationUrl(leg, soon())).searchParams.get('redirect_uri')).toBe(
        'https://other.example/back',
      );
    },
  );

  it('identifies a person by the claim of subjectClaim', async () => {
    const users = { ada: { groups: ['admins'], employee_id: 'E-42' } };
    const idp = await provider({
      users,
      configure: (given) => ({ ...given, claims: { openid: ['sub', 'employee_id'] } }),
    });
    expect((await signIn(await upstream(idp.issuer, { subjectClaim: 'employee_id' }))).identity.subject).toBe('E-42');
    await expect(signIn(await upstream(idp.issuer, { subjectClaim: 'oid' }))).rejects.toThrow(
      'upstream corp: the ID token has no oid (invalid_response)',
    );
  });

  it('takes name and email from userinfo when the ID token has none', async () => {
    const idp = await provider({ configure: (given) => ({ ...given, conformIdTokenClaims: true }) });
    const made = await upstream(idp.issuer, { scopes: ['openid', 'profile', 'email'] });
    expect((await signIn(made)).identity).toMatchObject({ subject: 'ada', name: 'Ada', email: 'ada@example.com' });
    expect(idp.seen).toContain('GET /me');
  });

  proves('choice.upstream.client-methods', 'accepts the secret by HTTP Basic where the body is refused', async () => {
    const idp = await provider({}, { token_endpoint_auth_method: 'client_secret_basic' });
    expect((await signIn(await upstream(idp.issuer))).identity.subject).toBe('ada');
  });

  it('accepts a public client with PKCE', async () => {
    const idp = await provider({}, { token_endpoint_auth_method: 'none', client_secret: undefined as never });
    const made = await upstreamOf(corp(idp.issuer, { clientSecretRef: undefined as never }));
    expect((await signIn(made)).identity.subject).toBe('ada');
  });

  it('refreshes with scopes and gives a new refresh token and a checked ID token', async () => {
    const idp = await provider();
    const made = await upstream(idp.issuer);
    const { tokens } = await signIn(made);
    const refreshed = await made.refresh(tokens, soon());
    await refreshed.check();
    expect(refreshed.tokens.accessToken.reveal()).not.toBe(tokens.accessToken.reveal());
    expect(refreshed.tokens.refreshToken?.reveal()).not.toBe(tokens.refreshToken?.reveal());
    expect(refreshed.tokens).toMatchObject({ clientId: 'toolmgr', idTokenSubject: 'ada' });
    await expect(made.refresh(tokens, soon())).rejects.toMatchObject({
      name: 'UpstreamRefusal',
      code: 'invalid_grant',
    });
  });

  it('does not refresh tokens of another client id', async () => {
    const idp = await provider();
    const made = await upstream(idp.issuer);
    const { tokens } = await signIn(made);
    const before = idp.seen.length;
    await expect(made.refresh({ ...tokens, clientId: 'earlier' }, soon())).rejects.toThrow(
      'the tokens were issued to another client id (invalid_grant)',
    );
    expect(idp.seen).toHaveLength(before);
  });

  proves(
    'choice.upstream.refresh-checked-late',
    'refuses a refreshed ID token of another person, after the tokens were returned',
    async () => {
      const idp = await provider();
      const made = await upstream(idp.issuer);
      const { tokens } = await signIn(made);
      const { tokens: stored, check } = await made.refresh({ ...tokens, idTokenSubject: 'bob' }, soon());
      expect(stored.refreshToken?.reveal()).toBeTruthy();
      await expect(check()).rejects.toThrow('refreshed tokens are of another person (invalid_response)');
    },
  );

  proves(
    'choice.upstream.key-change',
    'signs people in when its keys change right after they were fetched',
    async () => {
      const idp = await provider();
      const made = await upstream(idp.issuer);
      await signIn(made);
      await signIn(made);
      const before = idp.seen.filter((each) => each === 'GET /jwks').length;
      expect(before).toBe(1);
      idp.rotate(false);
      expect((await signIn(made)).identity.subject).toBe('ada');
      await signIn(made);
      expect(idp.seen.filter((each) => each === 'GET /jwks')).toHaveLength(2);
    },
  );

  it('revokes the refresh token', async () => {
    const idp = await provider();
    const made = await upstream(idp.issuer);
    const { tokens } = await signIn(made);
    await made.revoke(tokens, soon());
    expect(idp.seen).toContain('POST /token/revocation');
    await expect(made.refresh(tokens, soon())).rejects.toBeInstanceOf(UpstreamRefusal);
  });

  it('tells a refused sign-in from an outage', async () => {
    const idp = await provider();
    const made = await upstream(idp.issuer);
    const leg = newLeg();
    const callback = (fields: Record<string, string>) =>
      new URLSearchParams({ iss: idp.issuer, state: leg.state, ...fields });
    const answer = (fields: Record<string, string>) => made.exchange(callback(fields), leg, soon());
    await expect(answer({ error: 'access_denied', error_description: SECRET })).rejects.toMatchObject({
      code: 'access_denied',
      message: 'upstream corp: refused the sign-in (access_denied)',
    });
    await expect(answer({ error: 'temporarily_unavailable' })).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    await expect(answer({ code: 'wrong' })).rejects.toMatchObject({ name: 'UpstreamRefusal', code: 'invalid_grant' });
    await idp.pause();
    await expect(answer({ code: 'any' })).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    await idp.resume();
  });
});

describe('an OpenID Connect provider that does not answer', () => {
  proves('choice.upstream.unreachable', 'delays only its own sign-ins, and works when it is back', async () => {
    const idp = await provider();
    await idp.pause();
    const log: string[] = [];
    const made = await upstreamOf(corp(idp.issuer), { environment: ENVIRONMENT, log });
    await expect(made.authorizationUrl(newLeg(), soon())).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    await idp.resume();
    await expect.poll(() => made.authorizationUrl(newLeg(), soon()), { timeout: 10_000 }).toContain(idp.issuer);
    expect(log.filter((line) => line.startsWith('an upstream provider cannot be discovered'))).toHaveLength(1);
    expect(log.filter((line) => line.startsWith('the upstream provider is discovered'))).toHaveLength(1);
  });

  proves('choice.upstream.unreachable', 'is discovered by itself when it is back', async () => {
    const idp = await provider();
    await idp.pause();
    const log: string[] = [];
    await upstreamOf(corp(idp.issuer), { environment: ENVIRONMENT, log });
    await expect.poll(() => log.length).toBe(1);
    await idp.resume();
    await expect.poll(() => log.at(-1), { timeout: 15_000 }).toContain('the upstream provider is discovered');
  });

  it('is an outage, not a refusal, when tokens are refreshed', async () => {
    const idp = await provider();
    const made = await upstream(idp.issuer);
    const { tokens } = await signIn(made);
    await idp.pause();
    await expect(made.refresh(tokens, soon())).rejects.toMatchObject({ name: 'GatewayFault' });
    await idp.resume();
    await (await made.refresh(tokens, soon())).check();
  });

  it('reports a wrong client secret as a mistake of the configuration, not of the person', async () => {
    const idp = await provider();
    const made = await upstreamOf(corp(idp.issuer), { environment: { CORP_SECRET: 'wrong' } });
    const leg = newLeg();
    const callback = await callbackOf(await made.authorizationUrl(leg, soon()));
    await expect(made.exchange(callback, leg, soon())).rejects.toMatchObject({
      code: 'REMOTE_UNAVAILABLE',
      message:
        "upstream corp: does not accept the gateway's client id and secret, or does not allow it this grant (invalid_client)",
    });
  });

  it('reports both issuers when the discovery document names another one', async () => {
    const idp = await provider();
    const other = idp.issuer.replace('127.0.0.1', 'localhost');
    const made = await upstreamOf(corp(other), { environment: ENVIRONMENT });
    await expect(made.authorizationUrl(newLeg(), soon())).rejects.toMatchObject({
      code: 'REMOTE_UNAVAILABLE',
      message: expect.stringContaining(
        `expected the issuer ${other}/, but its discovery document names ${idp.issuer};`,
      ),
    });
  });
});
