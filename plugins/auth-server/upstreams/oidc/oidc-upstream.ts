import type { JsonObject } from '@toolmgr/core';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  refreshTokenGrant,
  type CustomFetch as Send,
} from 'openid-client';
import { providerFault, translated } from '../failures.ts';
import { jwtPayload } from '../jwt-payload.ts';
import type { ProviderClient } from '../provider/provider-client.ts';
import { libraryFetch } from '../provider/provider-http.ts';
import { usedKeys } from '../provider/provider-metadata.ts';
import { refreshWithScopes } from '../refresh-scopes.ts';
import { revokeTokens } from '../revoke.ts';
import { standardMembers, tokensFrom } from '../token-answer.ts';
import { type Upstream, UpstreamRefusal, type UpstreamTokenSet } from '../upstream.ts';
import type { UpstreamParts } from '../upstream-parts.ts';
import type { OidcUpstreamConfig } from './oidc-config.ts';
import { oidcIdentity } from './oidc-identity.ts';
import { BUDGET_MS, createOidcLibrary } from './oidc-library.ts';

/** Creates an OpenID Connect provider. Its discovery document is loaded in the background. */
export function createOidcUpstream(
  parts: UpstreamParts,
  config: OidcUpstreamConfig,
  configured: ProviderClient,
): Upstream {
  const { provider, redirectUri, http, now } = parts;
  const { name } = provider;
  const { scopes } = config;
  const library = createOidcLibrary(parts, config.issuerUrl, configured);

  /** The function that sends the requests of the library; the answers have only the members that are used. */
  function sendFor(signal: AbortSignal, readTokens = standardMembers): (document: JsonObject) => Send {
    return (document) => {
      const read = (body: JsonObject, url: string) =>
        isSame(url, document.jwks_uri) ? usedKeys(body) : readTokens(body);
      return libraryFetch(http, signal, read);
    };
  }

  return {
    name,
    loginPolicy: provider.loginPolicy,
    async authorizationUrl(leg, signal) {
      const codeChallenge = await calculatePKCECodeChallenge(leg.codeVerifier);
      return translated(name, 'fault', () =>
        library.use(sendFor(signal), signal, async (made) => {
          const url = buildAuthorizationUrl(made, {
            ...config.additionalAuthorizationParams,
            redirect_uri: redirectUri,
            scope: scopes.join(' '),
            state: leg.state,
            nonce: leg.nonce,
            code_challenge: codeChallenge,
            code_challenge_method: 'S256',
            // the ID token then says when the person signed in
            ...(leg.maxAgeS === undefined ? {} : { max_age: String(leg.maxAgeS) }),
          });
          return url.href;
        }),
      );
    },
    async exchange(callback, leg, given) {
      const signal = AbortSignal.any([given, AbortSignal.timeout(BUDGET_MS)]);
      const answered = new URL(redirectUri);
      answered.search = callback.toString();
      const checks = { expectedState: leg.state, expectedNonce: leg.nonce, pkceCodeVerifier: leg.codeVerifier };
      return translated(name, 'refusal', async () => {
        const { members, claims } = await library.use(sendFor(signal), signal, async (made) => {
          const answer = await authorizationCodeGrant(made, answered, { ...checks, idTokenExpected: true });
          return { members: answer as unknown as JsonObject, claims: answer.claims() as unknown as JsonObject };
        });
        if (isTooOld(claims, leg.maxAgeS, now() / 1000)) {
          throw new UpstreamRefusal(name, 'login_required', 'the sign-in there is older than the client allows');
        }
        const tokens = tokensOf(members);
        const document = await library.document(signal);
        const identity = await oidcIdentity({ claims, tokens, document }, { parts, config }, signal);
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
          library.use(
            sendFor(signal, withoutIdToken),
            signal,
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
        await library.use(sendFor(signal), signal, use);
      });
    },
    async close() {
      library.close();
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
      const request = sendFor(signal)(document);
      return (url, options) =>
        isSame(url, document.token_endpoint) ? Promise.resolve(Response.json(recorded)) : request(url, options);
    };
    await translated(name, 'refusal', async () => {
      const claims = await library.use(send, signal, async (made) =>
        (await refreshTokenGrant(made, 'recorded')).claims(),
      );
      if (old.idTokenSubject === undefined || claims?.sub === old.idTokenSubject) return;
      throw new UpstreamRefusal(name, 'invalid_response', 'refreshed tokens are of another person');
    });
  }
}

/** @throws UpstreamRefusal without a refresh token of this client */
function refreshTokenOf(upstream: string, { refreshToken, clientId }: UpstreamTokenSet, ownId: string): string {
  if (refreshToken === undefined) throw new UpstreamRefusal(upstream, 'invalid_grant', 'there is no refresh token');
  if (clientId === ownId) return refreshToken.reveal();
  throw new UpstreamRefusal(upstream, 'invalid_grant', 'the tokens were issued to another client id');
}

function isSame(url: string, other: unknown): boolean {
  return typeof other === 'string' && URL.parse(url)?.href === URL.parse(other)?.href;
}

/** Not every provider says when a person signed in. Source: OpenID Connect Core §3.1.3.7. */
function isTooOld({ auth_time: signedInS }: JsonObject, maxAgeS: number | undefined, nowS: number): boolean {
  if (maxAgeS === undefined || signedInS === undefined) return false;
  return typeof signedInS !== 'number' || signedInS + maxAgeS + CLOCK_SKEW_S < nowS;
}

const CLOCK_SKEW_S = 30;
