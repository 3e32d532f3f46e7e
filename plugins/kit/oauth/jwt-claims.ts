import { isObject, type JsonObject, parsedJson, type Secret } from '@toolmgr/core';

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/; // RFC 7515 §7.1

/** Claims of a JWT that is not verified here; `undefined` when the text is no JWT. */
export function jwtClaims(token: Secret): JsonObject | undefined {
  return jwtPart(token, 1);
}

/** Header of a JWT that is not verified here; `undefined` when the text is no JWT. */
export function jwtHeader(token: Secret): JsonObject | undefined {
  return jwtPart(token, 0);
}

function jwtPart(token: Secret, at: number): JsonObject | undefined {
  const text = token.reveal();
  if (!COMPACT.test(text)) return undefined;
  const value = parsedJson(Buffer.from(text.split('.')[at] ?? '', 'base64url'));
  return isObject(value) ? (value as JsonObject) : undefined;
}
