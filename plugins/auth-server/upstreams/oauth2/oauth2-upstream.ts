import type { JsonObject } from '@toolmgr/core';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  refreshTokenGrant,
} from 'openid-client';
import { isClientError, isTokenError, providerFault, translated } from '../failures.ts';
import { type FoundIdentity, found, identityOf, mappedIdentity, policyClaims, syntheticSubject } from '../identity.ts';
import { jsonPath, valueAt } from '../json-path.ts';
import { jwtPayload } from '../jwt-payload.ts';
import { authenticated, type ProviderClient, supportedBy } from '../provider/provider-client.ts';
import { libraryFetch } from '../provider/provider-http.ts';
import { refreshWithScopes } from '../refresh-scopes.ts';
import { revokeTokens } from '../revoke.ts';
import { standardMembers, tokensFrom } from '../token-answer.ts';
import { type Upstream, type UpstreamIdentity, UpstreamRefusal, type UpstreamTokenSet } from '../upstream.ts';
import type { UpstreamParts } from '../upstream-parts.ts';
import { requestUserInfo } from '../user-info.ts';
import type { Oauth2Clients } from './oauth2-clients.ts';
import type { Oauth2Config } from './oauth2-config.ts';
import type { Oauth2Endpoints } from './oauth2-endpoints.ts';

const BUDGET_MS = 30_000; // one sign-in leg or one refresh

/** What an OAuth 2.0 provider has besides the common parts. */
export interface Oauth2Parts extends UpstreamParts {
  readonly clients: Oauth2Clients;
  endpoints(signal: AbortSignal): Promise<Oauth2Endpoints>;
  close(): Promise<void>;
}

/** Creates an OAuth 2.0 provider without OpenID Connect. */
export function createOauth2Upstream(parts: Oauth2Parts, config: Oauth2Config): Upstream {
  const { provider, redirectUri, http, clients, now } = parts;
  const { name } = provider;
  const readTokens = tokenReader(config);

  /** Runs work with the library; `keepAnswer` receives a token response before it is mapped. */
  async function withLibrary<T>(
    client: ProviderClient,
    signal: AbortSignal,
    use: (library: Configuration, endpoints: Oauth2Endpoints) => Promise<T>,
    keepAnswer: (body: JsonObject) => void = () => {},
  ): Promise<T> {
    const endpoints = await parts.endpoints(signal);
    const read = (body: JsonObject): JsonObject => {
      keepAnswer(body);
      return readTokens(body);
    };
    return authenticated(supportedBy(client, endpoints.authMethods), (auth) =>
      use(libraryFor(endpoints, client.id, auth, libraryFetch(http, signal, read)), endpoints),
    );
  }

  /** Without configured scopes a registered client requests those of the metadata. */
  function requestedScopes(endpoints: Oauth2Endpoints): readonly string[] {
    return config.scopes.length > 0 || config.dcrConfig === undefined ? config.scopes : endpoints.scopes;
  }

  function tokensOf(
    members: JsonObject,
    clientId: string,
    scopes: readonly string[],
    old?: UpstreamTokenSet,
  ): UpstreamTokenSet {
    const context = { clientId, nowMs: now(), scopes, ...(old === undefined ? {} : { old }) };
    const tokens = tokensFrom(members, context);
    if ('problem' in tokens) throw providerFault(name, `its answer is invalid: ${tokens.problem}`);
    return tokens;
  }

  async function identityFrom(
    answer: JsonObject,
    tokens: UpstreamTokenSet,
    signal: AbortSignal,
  ): Promise<UpstreamIdentity> {
    const { identityFromToken, userInfo } = config;
    const accessToken = tokens.accessToken.reveal();
    const idClaims = typeof answer.id_token === 'string' ? jwtPayload(answer.id_token) : undefined;
    if (identityFromToken !== undefined) {
      const { subjectPath, namePath, emailPath } = identityFromToken;
      const identity = found(textAt(answer, subjectPath), textAt(answer, namePath), textAt(answer, emailPath));
      return complete(identity, 'the token response has no text at subjectPath', policyClaims(accessToken, idClaims));
    }
    if (userInfo !== undefined) {
      const body = await requestUserInfo(name, http, userInfo, tokens.accessToken, signal);
      const identity = mappedIdentity(body, userInfo.fieldMapping);
      return complete(identity, 'userinfo has none of subjectFields', policyClaims(accessToken, idClaims, body));
    }
    return identityOf(syntheticSubject(accessToken), {}, policyClaims(accessToken, idClaims), true);
  }

  function complete(identity: FoundIdentity, problem: string, claims: JsonObject): UpstreamIdentity {
    if (identity.subject !== undefined) return identityOf(identity.subject, identity, claims);
    throw new UpstreamRefusal(name, 'invalid_response', problem);
  }

  /** A client that the provider forgot cannot refresh: the person has to sign in with the next one. */
  async function refusedClient(clientId: string, cause: unknown): Promise<never> {
    if (isTokenError(cause, isClientError) && (await clients.forget(clientId))) {
      throw new UpstreamRefusal(name, 'invalid_client', 'does not know the registered client any more');
    }
    throw cause;
  }

  return {
    name,
    loginPolicy: provider.loginPolicy,
    async authorizationUrl(leg, signal) {
      const client = await clients.current(signal);
      const codeChallenge = await calculatePKCECodeChallenge(leg.codeVerifier);
      return translated(name, 'fault', () =>
        withLibrary(client, signal, async (library, endpoints) => {
          const scopes = requestedScopes(endpoints);
          return buildAuthorizationUrl(library, {
            ...config.additionalAuthorizationParams,
            redirect_uri: redirectUri,
            ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
            state: leg.state,
            code_challenge: codeChallenge,
            code_challenge_method: 'S256',
          }).href;
        }),
      );
    },
    async exchange(callback, leg, given) {
      const signal = AbortSignal.any([given, AbortSignal.timeout(BUDGET_MS)]);
      const client = await clients.current(signal);
      const checks = { expectedState: leg.state, pkceCodeVerifier: leg.codeVerifier };
      let answer: JsonObject = {};
      return translated(name, 'refusal', async () => {
        const members = await withLibrary(
          client,
          signal,
          (library, { issuer }) => authorizationCodeGrant(library, answeredUrl(redirectUri, callback, issuer), checks),
          (body) => {
            answer = body;
          },
        ).catch((cause: unknown) => refusedClient(client.id, cause));
        const tokens = tokensOf(
          members as unknown as JsonObject,
          client.id,
          requestedScopes(await parts.endpoints(signal)),
        );
        return { identity: await identityFrom(answer, tokens, signal), tokens };
      });
    },
    async refresh(old, given) {
      const signal = AbortSignal.any([given, AbortSignal.timeout(BUDGET_MS)]);
      if (old.refreshToken === undefined) throw new UpstreamRefusal(name, 'invalid_grant', 'there is no refresh token');
      const refreshToken = old.refreshToken.reveal();
      const client = await clients.issuedTo(old.clientId);
      if (client === undefined) {
        throw new UpstreamRefusal(
          name,
          'invalid_grant',
          'the tokens were issued to a client that is not kept any more',
        );
      }
      const members = await translated(name, 'fault', () =>
        refreshWithScopes(config.scopes, old, (parameters) =>
          withLibrary(client, signal, (library) => refreshTokenGrant(library, refreshToken, parameters)),
        ).catch((cause: unknown) => refusedClient(client.id, cause)),
      );
      const tokens = tokensOf(members as unknown as JsonObject, client.id, config.scopes, old);
      const claims = jwtPayload(tokens.accessToken.reveal());
      return { tokens, ...(claims === undefined ? {} : { claims }), check: async () => {} };
    },
    async revoke(tokens, signal) {
      await revokeTokens(tokens, async (use) => {
        const client = await clients.issuedTo(tokens.clientId);
        if (client !== undefined) await withLibrary(client, signal, use);
      });
    },
    close: () => parts.close(),
  };
}

/** An ID token is not checked, because no issuer is configured; `identityFromToken` may read it. */
function tokenReader({ tokenResponseMapping }: Oauth2Config): (body: JsonObject) => JsonObject {
  if (tokenResponseMapping === undefined) {
    return (body) => {
      const { id_token: _unchecked, ...members } = standardMembers(body);
      return members;
    };
  }
  const { accessTokenPath, expiresInPath, refreshTokenPath, scopePath } = tokenResponseMapping;
  const paths = [
    ['access_token', jsonPath(accessTokenPath)],
    ['expires_in', jsonPath(expiresInPath)],
    ['refresh_token', jsonPath(refreshTokenPath)],
    ['scope', jsonPath(scopePath)],
  ] as const;
  return (body) => {
    const mapped = paths.flatMap(([member, path]) => {
      const value = valueAt(body, path);
      return value === undefined ? [] : [[member, value] as const];
    });
    return standardMembers({ ...Object.fromEntries(mapped), token_type: 'bearer' });
  };
}

function libraryFor(endpoints: Oauth2Endpoints, clientId: string, auth: ClientAuth, send: CustomFetch): Configuration {
  const { authorizationUrl, tokenUrl, revocationUrl, issuer = tokenUrl, sendsIssuer } = endpoints;
  const server = {
    issuer,
    authorization_endpoint: authorizationUrl,
    token_endpoint: tokenUrl,
    ...(revocationUrl === undefined ? {} : { revocation_endpoint: revocationUrl }),
    authorization_response_iss_parameter_supported: sendsIssuer,
  };
  const library = new Configuration(server, clientId, undefined, auth);
  allowInsecureRequests(library); // the rules of the HTTP client decide
  library[customFetch] = send;
  library.timeout = BUDGET_MS / 1000;
  return library;
}

/** Without a known issuer there is nothing to compare `iss` with. */
function answeredUrl(redirectUri: string, callback: URLSearchParams, issuer: string | undefined): URL {
  const given = new URLSearchParams(callback);
  if (issuer === undefined) given.delete('iss');
  const url = new URL(redirectUri);
  url.search = given.toString();
  return url;
}

function textAt(body: JsonObject, path: string | undefined): string | undefined {
  const value = path === undefined ? undefined : valueAt(body, jsonPath(path));
  return typeof value === 'string' ? value : undefined;
}
