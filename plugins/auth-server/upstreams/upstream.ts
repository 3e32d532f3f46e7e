import type { JsonObject, Secret } from '@toolmgr/core';

/** One upstream identity provider: how a person signs in there, and how its tokens are kept valid. */
export interface Upstream {
  /** DNS label, unique in the configuration. */
  readonly name: string;
  /** Who its subjects are unique for: the issuer, or the host without one. */
  readonly authority?: string;
  /** `required`: everyone signs in here; `onDemand`: connected later, when a call needs it. */
  readonly loginPolicy: 'required' | 'onDemand';
  /**
   * The URL that a browser is sent to.
   * @throws GatewayFault REMOTE_UNAVAILABLE, REMOTE_REFUSED while the provider cannot be discovered or registered with
   */
  authorizationUrl(leg: UpstreamLeg, signal: AbortSignal): Promise<string>;
  /**
   * Exchanges the answer of the provider. `callback`: the query of the redirect; its `state` was checked.
   * @throws UpstreamRefusal when the provider refuses; GatewayFault as above
   */
  exchange(callback: URLSearchParams, leg: UpstreamLeg, signal: AbortSignal): Promise<UpstreamGrant>;
  /**
   * Refreshes tokens. The new tokens are stored before `check` runs, which may fail: the old refresh token may be consumed.
   * @throws UpstreamRefusal when the refresh token is not accepted any more; GatewayFault as above
   */
  refresh(tokens: UpstreamTokenSet, signal: AbortSignal): Promise<RefreshedTokens>;
  /** Revokes tokens at the provider (RFC 7009) when it can; never throws. */
  revoke(tokens: UpstreamTokenSet, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** What one redirect to a provider is bound to. Random texts, made for this leg only. */
export interface UpstreamLeg {
  readonly state: string;
  readonly nonce: string;
  /** PKCE (RFC 7636), S256. */
  readonly codeVerifier: string;
  /** A sign-in at the provider that says it is older is refused, in seconds (OpenID Connect Core §3.1.3.7). */
  readonly maxAgeS?: number | undefined;
}

/** What a provider answered to a sign-in. */
export interface UpstreamGrant {
  readonly identity: UpstreamIdentity;
  readonly tokens: UpstreamTokenSet;
}

/** Who a provider says the person is. */
export interface UpstreamIdentity {
  /** Stable within the provider. */
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  /** The subject is derived from the access token, because the provider gives no identity. */
  readonly isSynthetic: boolean;
  /** Claims for policies: of the access token when it is a JWT, else of the ID token or of userinfo. */
  readonly claims: JsonObject;
}

/** Tokens of one person from one provider. */
export interface UpstreamTokenSet {
  readonly accessToken: Secret;
  readonly refreshToken?: Secret;
  readonly idToken?: Secret;
  /** Granted scopes, separated by spaces. */
  readonly scope?: string;
  /** Epoch milliseconds; absent when the provider does not say. */
  readonly expiresMs?: number;
  /** The client at the provider that the tokens were issued to (dynamic registration may make another one later). */
  readonly clientId: string;
  /** `sub` of the ID token; it must stay the same when tokens are refreshed. */
  readonly idTokenSubject?: string;
}

/** Refreshed tokens that are not checked yet. */
export interface RefreshedTokens {
  /** Complete: what the provider left out is taken from the old ones. */
  readonly tokens: UpstreamTokenSet;
  /** Claims for policies, when the access token is a JWT. */
  readonly claims?: JsonObject;
  /** @throws UpstreamRefusal when the ID token is invalid or of another person */
  check(): Promise<void>;
}

/** A provider refuses: a decision, not an outage. `message` has only known error codes, no text of the provider. */
export class UpstreamRefusal extends Error {
  /** OAuth error code (RFC 6749 §4.1.2.1, §5.2), or `invalid_response`. */
  readonly code: string;

  constructor(upstream: string, code: string, message: string) {
    super(`upstream ${upstream}: ${message} (${code})`);
    this.name = 'UpstreamRefusal';
    this.code = code;
  }
}
