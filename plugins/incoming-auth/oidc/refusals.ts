import type { Refusal } from '@toolmgr/core';

/** Why a token does not count. */
export type Objection = keyof typeof OBJECTIONS;

/**
 * Every objection with its code of RFC 6750 §3.1 and its words for the client.
 * The words tell what is wrong with the client's own token, never what would be right. No quotes or backslashes: they go into a header.
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
  audience: { error: 'invalid_token', words: 'the token is meant for somebody else' },
  claims: { error: 'invalid_token', words: 'the token lacks a claim or has one of the wrong kind' },
  bound: { error: 'invalid_token', words: 'the token is bound to a key that its sender has to prove' },
  rejected: { error: 'invalid_token', words: 'the identity provider does not take the token' },
  inactive: { error: 'invalid_token', words: 'the token is not active' },
} as const satisfies Record<string, { readonly error: string | undefined; readonly words: string }>;

/**
 * The 401 of an objection, with the pointer to the metadata of the resource.
 * Source: RFC 6750 §3 (no error code without a token), RFC 9728 §5.1.
 */
export function refusalOf(objection: Objection, challenge: string): Refusal {
  const { error, words } = OBJECTIONS[objection];
  const told = error === undefined ? challenge : `${challenge}, error="${error}", error_description="${words}"`;
  return { refused: true, status: 401, reason: words, headers: { 'www-authenticate': told } };
}

/** What is answered while nobody can tell: a 401 would make clients throw good tokens away. */
export const UNDECIDED: Refusal = {
  refused: true,
  status: 503,
  reason: 'the identity provider cannot be asked now; try again later',
  retryAfterMs: 5_000,
};
