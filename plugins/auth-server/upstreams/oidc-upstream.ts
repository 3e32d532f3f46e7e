import { createOutageLog, explainCause, type JsonObject } from '@toolmgr/core';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  getJwksCache,
  refreshTokenGrant,
  type CustomFetch as Send,
  setJwksCache,
} from 'openid-client';
import { providerFault, translated } from './failures.ts';
import { type FoundIdentity, found, identityOf, mappedIdentity, policyClaims } from './identity.ts';
import { jwtPayload } from './jwt-payload.ts';
import { loadInBackground } from './loaded-value.ts';
import type { OidcUpstreamConfig } from './oidc-config.ts';
import { authenticated, type ProviderClient, supportedBy } from './provider-client.ts';
import { libraryFetch } from './provider-http.ts';
import { textsIn, usedKeys, usedMetadata } from './provider-metadata.ts';
import { addressRules } from './provider-urls.ts';
import { refreshWithScopes } from './refresh-scopes.ts';
import { revokeTokens } from './revoke.ts';
import { isShallow } from './shallow.ts';
import { standardMembers, tokensFrom } from './token-answer.ts';
import { type Upstream, type UpstreamIdentity, UpstreamRefusal, type UpstreamTokenSet } from './upstream.ts';
import type { UpstreamParts } from './upstream-parts.ts';
import { requestUserInfo, type UserInfoRequest } from './user-info.ts';

const BUDGET_MS = 30_000; // one sign-in leg or one refresh

/** Creates an OpenID Connect provider. Its discovery document is loaded in the background. */
export function createOidcUpstream(
  parts: UpstreamParts,
  config: OidcUpstreamConfig,
  configured: ProviderClient,
): Upstream {
  const { provider, redirectUri, http, log, now } = parts;
  const { name } = provider;
  const rulesOf = addressRules(provider);
  const { issuerUrl, scopes } = config;
  let keys: ReturnType<typeof getJwksCache>;

  const documents = loadInBackground<JsonObject>({
    load: (signal) => loadDocument(signal),
    outage: createOutageLog(
      { log, now },
      {
        began: 'an upstream provider cannot be discovered',
        over: 'the upstream provider is discovered',
        fields: { upstream: name },
      },
    ),
    now,
    what: `upstream ${name}: discovery of ${issuerUrl}`,
  });

  async function loadDocument(signal: AbortSignal): Promise<JsonObject> {
    let document: JsonObject = {};
    const read = (body: JsonObject) => {
      document = usedMetadata(body, rulesOf);
      return document;
    };
    await translated(name, 'fault', () => discovered(libraryFetch(http, signal, read)));
    const missing = REQUIRED.find((member) => document[member] === undefined);
    if (missing === undefined) return document;
    throw providerFault(name, `its discovery document has no ${missing} that may be used`);
  }

  /** The library's checks of a document; with a fetch function that answers a kept one there is no request. */
  function discovered(send: Send, auth?: ClientAuth): Promise<Configuration> {
    return discovery(new URL(issuerUrl), configured.id, undefined, auth, {
      [customFetch]: send,
      execute: [allowInsecureRequests], // the rules of `http` decide
      timeout: BUDGET_MS / 1000,
    });
  }

  /** The library's configuration for one request. */
  async function library(document: JsonObject, auth: ClientAuth, send: Send): Promise<Configuration> {
    const made = await discovered(async () => Response.json(document), auth);
    made[customFetch] = send;
    enableNonRepudiationChecks(made); // the signature of ID tokens
    if (keys !== undefined) setJwksCache(made, keys);
    return made;
  }

  function fetchFor(document: JsonObject, signal: AbortSignal, readTokens = standardMembers) {
    const read = (body: JsonObject, url: string) =>
      isSame(url, document.jwks_uri) ? usedKeys(body) : readTokens(body);
    return libraryFetch(http, signal, read);
  }

  async function withLibrary<T>(
    signal: AbortSignal,
    send: (document: JsonObject) => Send,
    use: (library: Configuration) => Promise<T>,
  ): Promise<T> {
    const document = await documents.get(signal);
    const client = supportedBy(configured, supportedMethods(document));
    return authenticated(client, async (auth) => {
      const made = await library(document, auth, send(document));
      try {
        return await use(made);
      } finally {
        keys = getJwksCache(made);
      }
    });
  }

  /** Without an answer of the discovered endpoint the person has no name or email here, and is signed in. */
  async function asked(endpoint: UserInfoRequest, { accessToken }: UpstreamTokenSet, signal: AbortSignal) {
    try {
      return await requestUserInfo(name, http, endpoint, accessToken, signal);
    } catch (cause) {
      if (config.userInfoOverride !== undefined) throw cause;
      log.warn('a person signs in without name or email: userinfo does not answer', {
        upstream: name,
        cause: explainCause(cause),
      });
      return undefined;
    }
  }

  async function identityFrom(
    claims: JsonObject,
    tokens: UpstreamTokenSet,
    document: JsonObject,
    signal: AbortSignal,
  ): Promise<UpstreamIdentity> {
    const { subjectClaim, userInfoOverride } = config;
    if (!isShallow(claims)) throw new UpstreamRefusal(name, 'invalid_response', 'the ID token is nested too deeply');
    const own = found(claims[subjectClaim], claims.name, claims.email);
    const endpoint = userInfoOverride ?? discoveredUserInfo(document, claims, scopes);
    const answer = endpoint === undefined ? undefined : await asked(endpoint, tokens, signal);
    // OpenID Connect Core §5.3.2: else it may be about another person
    if (answer?.sub !== undefined && answer.sub !== claims.sub) {
      throw new UpstreamRefusal(name, 'invalid_response', 'userinfo is about another subject than the ID token');
    }
    const mapping = (userInfoOverride ?? STANDARD).fieldMapping;
    const other: FoundIdentity = answer === undefined ? {} : mappedIdentity(answer, mapping);
    const subject = subjectClaim === 'sub' ? (other.subject ?? own.subject) : own.subject;
    if (subject === undefined)
      throw new UpstreamRefusal(name, 'invalid_response', `the ID token has no ${subjectClaim}`);
    return identityOf(subject, { ...own, ...other }, policyClaims(tokens.accessToken.reveal(), claims, answer));
  }

  return {
    name,
    loginPolicy: provider.loginPolicy,
    async authorizationUrl(leg, signal) {
      const codeChallenge = await calculatePKCECodeChallenge(leg.codeVerifier);
      return translated(name, 'fault', () =>
        withLibrary(
          signal,
          (document) => fetchFor(document, signal),
          async (made) => {
            const url = buildAuthorizationUrl(made, {
              ...config.additionalAuthorizationParams,
              redirect_uri: redirectUri,
              scope: scopes.join(' '),
              state: leg.state,
              nonce: leg.nonce,
              code_challenge: codeChallenge,
              code_challenge_method: 'S256',
            });
            return url.href;
          },
        ),
      );
    },
    async exchange(callback, leg, given) {
      const signal = AbortSignal.any([given, AbortSignal.timeout(BUDGET_MS)]);
      const answered = new URL(redirectUri);
      answered.search = callback.toString();
      const checks = { expectedState: leg.state, expectedNonce: leg.nonce, pkceCodeVerifier: leg.codeVerifier };
      return translated(name, 'refusal', async () => {
        const { members, claims } = await withLibrary(
          signal,
          (document) => fetchFor(document, signal),
          async (made) => {
            const answer = await authorizationCodeGrant(made, answered, { ...checks, idTokenExpected: true });
            return { members: answer as unknown as JsonObject, claims: answer.claims() as unknown as JsonObject };
          },
        );
        const tokens = tokensOf(members);
        const identity = await identityFrom(claims, tokens, await documents.get(signal), signal);
        return { identity, tokens: { ...tokens, idTokenSubject: String(claims.sub) } };
      });
    },
    async refresh(old, given) {
      const signal = AbortSignal.any([given, AbortSignal.timeout(BUDGET_MS)]);
      const refreshToken = refreshTokenOf(name, old, configured.id);
      let idToken: string | undefined;
      // without the ID token the library checks nothing that can fail after the old refresh token was consumed
      const withoutIdToken = (body: JsonObject): JsonObject => {
        const { id_token, ...members } = standardMembers(body);
        idToken = typeof id_token === 'string' ? id_token : undefined;
        return members;
      };
      const members = await translated(name, 'fault', () =>
        refreshWithScopes(scopes, old, (parameters) =>
          withLibrary(
            signal,
            (document) => fetchFor(document, signal, withoutIdToken),
            async (made) => (await refreshTokenGrant(made, refreshToken, parameters)) as unknown as JsonObject,
          ),
        ),
      );
      const tokens = tokensOf({ ...members, ...(idToken === undefined ? {} : { id_token: idToken }) }, old);
      const claims = jwtPayload(tokens.accessToken.reveal());
      return {
        tokens,
        ...(claims === undefined ? {} : { claims }),
        check: () => checkIdToken(idToken, old),
      };
    },
    async revoke(tokens, signal) {
      await revokeTokens(tokens, async (use) => {
        await withLibrary(signal, (document) => fetchFor(document, signal), use);
      });
    },
    async close() {
      documents.close();
      await http.close();
    },
  };

  function tokensOf(members: JsonObject, old?: UpstreamTokenSet): UpstreamTokenSet {
    const context = { clientId: configured.id, nowMs: now(), scopes, ...(old === undefined ? {} : { old }) };
    const tokens = tokensFrom(members, context);
    if ('problem' in tokens) throw providerFault(name, `its answer is invalid: ${tokens.problem}`);
    return tokens;
  }

  /** Gives the library the recorded answer again, this time with the ID token. */
  async function checkIdToken(idToken: string | undefined, old: UpstreamTokenSet): Promise<void> {
    if (idToken === undefined) return;
    const signal = AbortSignal.timeout(BUDGET_MS);
    const recorded = { access_token: 'recorded', token_type: 'bearer', id_token: idToken };
    const send = (document: JsonObject): Send => {
      const request = fetchFor(document, signal);
      return (url, options) =>
        isSame(url, document.token_endpoint) ? Promise.resolve(Response.json(recorded)) : request(url, options);
    };
    await translated(name, 'refusal', async () => {
      const claims = await withLibrary(signal, send, async (made) =>
        (await refreshTokenGrant(made, 'recorded')).claims(),
      );
      if (old.idTokenSubject === undefined || claims?.sub === old.idTokenSubject) return;
      throw new UpstreamRefusal(name, 'invalid_response', 'refreshed tokens are of another person');
    });
  }
}

const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

const STANDARD = { fieldMapping: { subjectFields: [], nameFields: ['name'], emailFields: ['email'] } };

/** The discovered endpoint, when name or email were requested and the ID token has them not. */
function discoveredUserInfo({ userinfo_endpoint: url }: JsonObject, claims: JsonObject, scopes: readonly string[]) {
  const isWanted =
    (scopes.includes('profile') && claims.name === undefined) ||
    (scopes.includes('email') && claims.email === undefined);
  if (!isWanted || typeof url !== 'string') return undefined;
  return { endpointUrl: url, httpMethod: 'GET', additionalHeaders: {} } as const;
}

function supportedMethods(document: JsonObject): readonly string[] | undefined {
  const listed = document.token_endpoint_auth_methods_supported;
  return listed === undefined ? undefined : textsIn(listed);
}

function isSame(url: string, other: unknown): boolean {
  return typeof other === 'string' && URL.parse(url)?.href === URL.parse(other)?.href;
}

/** @throws UpstreamRefusal without a refresh token of this client */
function refreshTokenOf(upstream: string, { refreshToken, clientId }: UpstreamTokenSet, ownId: string): string {
  if (refreshToken === undefined) throw new UpstreamRefusal(upstream, 'invalid_grant', 'there is no refresh token');
  if (clientId === ownId) return refreshToken.reveal();
  throw new UpstreamRefusal(upstream, 'invalid_grant', 'the tokens were issued to another client id');
}
