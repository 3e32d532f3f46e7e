import { createHash } from 'node:crypto';
import { type Caller, isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
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
 * TLS) is refused, because it is not a bearer token. Who acts for the subject (`act`, RFC 8693 §4.1) is a part of the key.
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
  const subjectKey = `${issuer}\0${subject}`;
  const actor = claims.act === undefined || claims.act === null ? undefined : digestOf(claims.act);
  const name = NAMES.map((key) => claims[key]).find((value) => typeof value === 'string' && value !== '');
  return {
    issuer,
    subject,
    ...(actor === undefined ? { key: subjectKey } : { key: `${subjectKey}\0${actor}`, subjectKey }),
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

/** A digest of an actor with those before it, whatever the order of its members. */
function digestOf(act: JsonValue): string {
  return createHash('sha256')
    .update(JSON.stringify(inOrder(act)))
    .digest('base64url');
}

function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name] ?? null)]));
}
