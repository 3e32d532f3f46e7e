import type { Caller, JsonObject } from '@toolmgr/core';
import { secretOf } from '../../shared/secret.ts';
import type { Objection } from './refusals.ts';

const MAX_SUBJECT_LENGTH = 1_024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a subject must not have
const CONTROL = /[\u0000-\u001f\u007f]/;
const NAMES = ['name', 'preferred_username', 'email'] as const;

/**
 * The caller of verified claims, or the objection to them.
 *
 * The subject is `sub`, for a program without one its `client_id` (RFC 9068 §2.2). A token that is bound to a key (DPoP,
 * mutual TLS) is no bearer token: whoever holds it has to prove more than that.
 */
export function callerFromClaims(
  claims: JsonObject,
  issuer: string,
  token: string,
  challenge: string,
): Caller | Objection {
  if (claims.cnf !== undefined) return 'bound';
  const subject = claims.sub ?? claims.client_id;
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT_LENGTH) return 'claims';
  if (CONTROL.test(subject)) return 'claims';
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
