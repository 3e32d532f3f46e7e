import type { Refusal } from '@toolmgr/core';

/** Why a token is refused. */
export type Objection = keyof typeof OBJECTIONS;

/**
 * The error code of RFC 6750 §3.1 and the description for each reason. A description never reveals expected values, and has no
 * quotes or backslashes, because it is sent in a header.
 */
const OBJECTIONS = {
  missing: { error: undefined, words: 'authentication is required' },
  malformed: { error: 'invalid_request', words: 'expected one bearer token' },
  tooLong: { error: 'invalid_token', words: 'the token is too long' },
  opaque: { error: 'invalid_token', words: 'the token is not a signed JWT' },
  type: { error: 'invalid_token', words: 'the token is not an access token' },
  algorithm: { error: 'invalid_token', words: 'the token is signed in a way that is not accepted' },
  signature: { error: 'invalid_token', words: 'the signature of the token cannot be verified' },
  expired: { error: 'invalid_token', words: 'the token has expired' },
  early: { error: 'invalid_token', words: 'the token is not valid yet' },
  issuer: { error: 'invalid_token', words: 'the token is from another issuer' },
  audience: { error: 'invalid_token', words: 'the token has another audience' },
  subject: { error: 'invalid_token', words: 'the token is of another subject' },
  claims: { error: 'invalid_token', words: 'the token lacks a claim or has one of the wrong kind' },
  bound: { error: 'invalid_token', words: 'the token is bound to a key that its sender has to prove' },
  rejected: { error: 'invalid_token', words: 'the identity provider does not take the token' },
  withdrawn: { error: 'invalid_token', words: 'the token was withdrawn' },
  inactive: { error: 'invalid_token', words: 'the token is not active' },
} as const satisfies Record<string, { readonly error: string | undefined; readonly words: string }>;

/**
 * The 401 response for a refused token, with the URL of the resource metadata.
 * Source: RFC 6750 §3 (no error code without a token), RFC 9728 §5.1.
 */
export function refusalOf(objection: Objection, challenge: string): Refusal {
  const { error, words } = OBJECTIONS[objection];
  const challengeWithError =
    error === undefined ? challenge : `${challenge}, error="${error}", error_description="${words}"`;
  return { refused: true, status: 401, reason: words, headers: { 'www-authenticate': challengeWithError } };
}

/** The response when a token cannot be verified now: with 401, clients would discard valid tokens. */
export const PROVIDER_UNAVAILABLE: Refusal = {
  refused: true,
  status: 503,
  reason: 'the identity provider is unavailable; try again later',
  retryAfterMs: 5_000,
};
