import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '@toolmgr/core';
import type { UserInfoConfig } from './config-fields.ts';
import { jsonPath, valueAt } from './json-path.ts';
import { jwtPayload } from './jwt-payload.ts';
import type { UpstreamIdentity } from './upstream.ts';

const MAX_SUBJECT = 512;
const MAX_SHOWN = 320; // characters of a name or an email address

/** Subject, name and email that an answer has. */
export interface FoundIdentity {
  readonly subject?: string;
  readonly name?: string;
  readonly email?: string;
}

/** Maps an answer of an userinfo endpoint; of each list the first value that is not empty wins. */
export function mappedIdentity(body: JsonObject, mapping: UserInfoConfig['fieldMapping']): FoundIdentity {
  const first = (fields: readonly string[]) =>
    fields
      .map((field) => textIn(Object.hasOwn(body, field) ? body[field] : valueAt(body, pathOf(field))))
      .find((each) => each !== undefined);
  return found(first(mapping.subjectFields), first(mapping.nameFields), first(mapping.emailFields));
}

/** A field that is no valid path is the name of a member only. */
function pathOf(field: string) {
  try {
    return jsonPath(field);
  } catch {
    return [field];
  }
}

/** An identity without empty parts. */
export function found(subject: unknown, name: unknown, email: unknown): FoundIdentity {
  const [id, shownName, shownEmail] = [subjectIn(subject), shownIn(name), shownIn(email)];
  return {
    ...(id === undefined ? {} : { subject: id }),
    ...(shownName === undefined ? {} : { name: shownName }),
    ...(shownEmail === undefined ? {} : { email: shownEmail }),
  };
}

/** The subject for a provider that gives no identity: it changes with every new access token. */
export function syntheticSubject(accessToken: string): string {
  return `tk-${createHash('sha256').update(accessToken).digest('hex').slice(0, 32)}`;
}

/** Claims for policies: of the access token when it is a JWT, else of the first of the others. */
export function policyClaims(accessToken: string, ...others: readonly (JsonObject | undefined)[]): JsonObject {
  return jwtPayload(accessToken) ?? others.find((each) => each !== undefined) ?? {};
}

/** A complete identity. */
export function identityOf(
  subject: string,
  { name, email }: FoundIdentity,
  claims: JsonObject,
  isSynthetic = false,
): UpstreamIdentity {
  return {
    subject,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    isSynthetic,
    claims,
  };
}

/** Ids are numbers at some providers. */
function textIn(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function subjectIn(value: unknown): string | undefined {
  const text = textIn(value as JsonValue);
  return text !== undefined && text.length <= MAX_SUBJECT ? text : undefined;
}

/** For pages and claims: without control characters, and not longer than a page shows. */
function shownIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value
    .slice(0, MAX_SHOWN * 4)
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, MAX_SHOWN);
  return text === '' ? undefined : text;
}
