import {
  type Caller,
  defineSlot,
  type GatewayFault,
  type JsonObject,
  type Secret,
  type UserActionRequired,
} from '@toolmgr/core';

/**
 * The tokens that people got from upstream identity providers when they signed in. An authorization
 * server fills it; strategies and policies read it. Its only name is `auth-server`.
 */
export interface UpstreamTokens {
  /** Names of the providers in the order of sign-in. */
  readonly providers: readonly string[];
  /** The provider whose claims policies read. */
  readonly primary: string;
  /** Backends get no credential that comes from a caller; strategies that would send one refuse to start. */
  readonly isInjectionDisabled: boolean;
  /** A token that is already here and valid; `undefined` when `obtain` is needed. */
  known(caller: Caller, provider: string): UpstreamToken | undefined;
  /**
   * The caller's token of a provider, refreshed when it is about to expire. `need`: the token that has to be valid; default
   * `accessToken`.
   * @throws UserActionRequired when the caller has not connected the provider, or its token cannot be refreshed any more;
   * GatewayFault AUTH_STRATEGY_REFUSED for a caller who did not sign in here, AUTH_STRATEGY_FAILED for an unknown provider,
   * STORE_UNAVAILABLE, REMOTE_UNAVAILABLE when it cannot be read or refreshed now; the signal's reason
   */
  obtain(
    caller: Caller,
    provider: string,
    signal: AbortSignal,
    need?: 'accessToken' | 'idToken',
  ): Promise<UpstreamToken>;
  /** A backend answered 401 to this token: returns whether the next `obtain` may return another one. */
  refused(caller: Caller, provider: string): boolean;
  /** The fault that leads the caller to sign in at the provider again, for a token that cannot be refreshed. Never rejects. */
  signInAgain(caller: Caller, provider: string): Promise<UserActionRequired | GatewayFault>;
}

/** One person's tokens of one provider. */
export interface UpstreamToken {
  readonly accessToken: Secret;
  /** Present when the provider issued one. It may have expired, unless `obtain` was told to need it. */
  readonly idToken?: Secret;
  /** When the provider issued it, epoch milliseconds. */
  readonly issuedMs: number;
  /** Epoch milliseconds; `undefined` when the provider does not say. */
  readonly expiresMs: number | undefined;
  /** Claims about the person: those of the access token when it is a JWT, else of the identity that the provider gave. */
  readonly claims: JsonObject;
}

/** Tokens of people from upstream identity providers; its only name is `auth-server`. */
export const upstreamTokens = defineSlot<UpstreamTokens>('upstreamTokens');
