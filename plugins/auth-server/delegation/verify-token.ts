import { isObject, type JsonObject } from '@toolmgr/core';
import { decodeJwt, decodeProtectedHeader, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';

/** Asymmetric algorithms only: HS* would allow key confusion, `none` has no signature. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Claims that only ID tokens have (OpenID Connect Core §2, §3.1.3.6). They prove a sign-in and are no access tokens. */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash', 'nonce'];

/** A token whose signature and times are valid. */
export interface VerifiedToken {
  readonly claims: JsonObject;
  readonly subject: string;
  /** Epoch seconds. */
  readonly expiresS: number;
  /** Lower case, without `application/`; empty without a type. */
  readonly type: string;
}

/** What a token has to be. */
export interface TokenRules {
  readonly issuer: string;
  /** One of them has to be in `aud`. */
  readonly audiences: readonly string[];
  /** Types that are accepted; the empty text stands for no type. */
  readonly types: readonly string[];
  readonly nowMs: number;
}

/** No key for the token: the keys may have been renewed since. */
export const UNKNOWN_KEY = Symbol('unknown key');

/** The issuer that a token names, before anything is checked; `undefined` for a text that is no JWT. */
export function namedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}

/** Checks signature, type, issuer, audience and times without leeway. `undefined` for a token that is refused. */
export async function verifyToken(
  token: string,
  pick: JWTVerifyGetKey,
  { issuer, audiences, types, nowMs }: TokenRules,
): Promise<VerifiedToken | undefined | typeof UNKNOWN_KEY> {
  try {
    const type = String(decodeProtectedHeader(token).typ ?? '')
      .toLowerCase()
      .replace(/^application\//, '');
    if (!types.includes(type)) return undefined;
    const { payload } = await jwtVerify(token, pick, {
      issuer,
      audience: [...audiences],
      algorithms: ALGORITHMS,
      clockTolerance: 0,
      currentDate: new Date(nowMs),
      requiredClaims: ['exp', 'sub', 'aud'],
    });
    if (!isObject(payload) || ID_TOKEN_CLAIMS.some((name) => name in payload)) return undefined;
    const { sub, exp, cnf } = payload as JsonObject;
    // a token that is bound to a key is no bearer token
    if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number' || cnf !== undefined) return undefined;
    return { claims: payload as JsonObject, subject: sub, expiresS: exp, type };
  } catch (cause) {
    return cause instanceof errors.JWKSNoMatchingKey ? UNKNOWN_KEY : undefined;
  }
}

/** The texts of a claim that is a text or a list of texts. */
export function textsOf(claim: unknown): readonly string[] {
  return [claim].flat().filter((each): each is string => typeof each === 'string');
}

/** The scopes of a token: `scope` (RFC 9068) or `scp`, as a text with spaces or a list. */
export function scopesOf({ scope, scp }: JsonObject): readonly string[] {
  return textsOf(scope ?? scp).flatMap((text) => text.split(' ').filter((each) => each !== ''));
}
