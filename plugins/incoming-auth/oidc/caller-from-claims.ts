import type { Caller, JsonObject } from '@toolmgr/core';
import { secretOf } from '../../shared/secret.ts';
import type { Objection } from './refusals.ts';

const MAX_SUBJECT_LENGTH = 1_024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a subject must not have
const CONTROL = /[\u0000-\u001f\u007f]/;
const NAMES = ['name', 'preferred_username', 'email'] as const;

/**
 * The caller of verified claims, or why they are refused.
 *
 * The subject is `sub`. A program's token may have none (RFC 7662 §2.2): then it is {@link CLIENT} and the `client_id`. No
 * `sub` may have this prefix, so that a client is never confused with a user. A token that is bound to a key (DPoP, mutual
 * TLS) is refused, because it is not a bearer token.
 */
export function callerFromClaims(
  claims: JsonObject,
  issuer: string,
  token: string,
  challenge: string,
): Caller | Objection {
  if (claims.cnf !== undefined) return 'bound';
  const subject = claims.sub === undefined ? clientSubject(claims.client_id) : userSubject(claims.sub);
  if (subject === undefined) return 'claims';
  const name = NAMES.map((key) => claims[key]).find((value) => typeof value === 'string' && value !== '');
  return {
    issuer,
    subject,
    key: `${issuer}\0${subject}`,
    ...(typeof name === 'string' ? { name } : {}),
    claims,
    token: secretOf(token),
    challenge,
  };
}

/** Prefix of the subject for a client without a user. */
const CLIENT = 'client_id:';

function userSubject(sub: unknown): string | undefined {
  return isName(sub) && !sub.startsWith(CLIENT) ? sub : undefined;
}

function clientSubject(id: unknown): string | undefined {
  return isName(id) ? `${CLIENT}${id}` : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_SUBJECT_LENGTH && !CONTROL.test(value);
}
