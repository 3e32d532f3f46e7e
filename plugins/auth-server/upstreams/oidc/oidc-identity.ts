import { explainCause, type JsonObject } from '@toolmgr/core';
import { type FoundIdentity, found, identityOf, mappedIdentity, policyClaims } from '../identity.ts';
import { isShallow } from '../shallow.ts';
import { type UpstreamIdentity, UpstreamRefusal, type UpstreamTokenSet } from '../upstream.ts';
import type { UpstreamParts } from '../upstream-parts.ts';
import { requestUserInfo, type UserInfoRequest } from '../user-info.ts';
import type { OidcUpstreamConfig } from './oidc-config.ts';

/** The provider that answered. */
export interface OidcIdentityParts {
  readonly parts: UpstreamParts;
  readonly config: OidcUpstreamConfig;
}

/** What the provider answered for one person. */
export interface OidcAnswer {
  /** The claims of the verified ID token. */
  readonly claims: JsonObject;
  readonly tokens: UpstreamTokenSet;
  /** The discovery document. */
  readonly document: JsonObject;
}

/**
 * Who signed in: from the ID token, and from the userinfo endpoint where it is configured or the ID token has no name or email.
 * @throws UpstreamRefusal when the answers have no subject or different ones; GatewayFault without an answer of a configured endpoint
 */
export async function oidcIdentity(
  { claims, tokens, document }: OidcAnswer,
  from: OidcIdentityParts,
  signal: AbortSignal,
): Promise<UpstreamIdentity> {
  const { subjectClaim, userInfoOverride, scopes } = from.config;
  const { name } = from.parts.provider;
  if (!isShallow(claims)) throw new UpstreamRefusal(name, 'invalid_response', 'the ID token is nested too deeply');
  const own = found(claims[subjectClaim], claims.name, claims.email);
  const endpoint = userInfoOverride ?? discoveredUserInfo(document, claims, scopes);
  const answer = endpoint === undefined ? undefined : await userInfo(from, endpoint, tokens, signal);
  // OpenID Connect Core §5.3.2: else it may be about another person
  if (answer?.sub !== undefined && answer.sub !== claims.sub) {
    throw new UpstreamRefusal(name, 'invalid_response', 'userinfo is about another subject than the ID token');
  }
  const mapping = (userInfoOverride ?? STANDARD).fieldMapping;
  const other: FoundIdentity = answer === undefined ? {} : mappedIdentity(answer, mapping);
  const subject = subjectClaim === 'sub' ? (other.subject ?? own.subject) : own.subject;
  if (subject === undefined) throw new UpstreamRefusal(name, 'invalid_response', `the ID token has no ${subjectClaim}`);
  return identityOf(subject, { ...own, ...other }, policyClaims(tokens.accessToken.reveal(), claims, answer));
}

/** Without an answer of the discovered endpoint the person has no name or email here, and is signed in. */
async function userInfo(
  { parts, config }: OidcIdentityParts,
  endpoint: UserInfoRequest,
  { accessToken }: UpstreamTokenSet,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const { provider, http, log } = parts;
  const { name } = provider;
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

const STANDARD = { fieldMapping: { subjectFields: [], nameFields: ['name'], emailFields: ['email'] } };

/** The discovered endpoint, when name or email were requested and the ID token has them not. */
function discoveredUserInfo({ userinfo_endpoint: url }: JsonObject, claims: JsonObject, scopes: readonly string[]) {
  const isWanted =
    (scopes.includes('profile') && claims.name === undefined) ||
    (scopes.includes('email') && claims.email === undefined);
  if (!isWanted || typeof url !== 'string') return undefined;
  return { endpointUrl: url, httpMethod: 'GET', additionalHeaders: {} } as const;
}
