import { defineSlot, type JsonObject } from '@toolmgr/core';

/**
 * An authorization server of this gateway, named by its issuer URL. An incoming-auth plugin that accepts
 * tokens of this issuer reads the keys here, without a request over HTTP.
 */
export interface TokenIssuer {
  /** Audiences for which it issues tokens; an incoming-auth plugin has to require one of them. */
  readonly audiences: readonly string[];
  /** The public keys as JWKs (RFC 7517), also those that only verify. */
  keys(): Promise<readonly JsonObject[]>;
  /**
   * Whether a token with a valid signature and these claims was withdrawn, e.g. by a revocation (RFC 7009). Synchronous when it
   * is known.
   */
  isWithdrawn(claims: JsonObject): boolean | Promise<boolean>;
}

/** Authorization servers of this gateway by issuer URL. */
export const tokenIssuers = defineSlot<TokenIssuer>('tokenIssuers');
