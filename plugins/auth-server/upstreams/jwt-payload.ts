import { isObject, type JsonObject } from '@toolmgr/core';
import { isShallow } from './shallow.ts';

const MAX_JWT = 64 * 1024; // characters
const SEGMENT = /^[\w-]+$/;

/** The payload of a JWT without a check of its signature; `undefined` when the text is no JWT. */
export function jwtPayload(token: string): JsonObject | undefined {
  if (token.length > MAX_JWT) return undefined;
  const [header, payload = '', signature, ...more] = token.split('.');
  if (header === undefined || signature === undefined || more.length > 0 || !SEGMENT.test(payload)) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return isObject(claims) && isShallow(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}
