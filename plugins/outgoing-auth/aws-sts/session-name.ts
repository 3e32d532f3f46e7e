import { createHash } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';

const MAX_LENGTH = 64; // AWS STS API, AssumeRoleWithWebIdentity RoleSessionName
const HASH_LENGTH = 12;

/**
 * The role session name of a caller; `undefined` when the claim is missing or is no text. A value that STS does not accept
 * (2 to 64 characters of `[A-Za-z0-9_+=,.@-]`) is shortened, its other characters become `-`, and it ends in a part of its
 * hash, so that two callers never get the same name.
 */
export function sessionNameFrom(claims: JsonObject, claim: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (typeof value !== 'string' || value === '') return undefined;
  if (/^[\w+=,.@-]{2,64}$/.test(value)) return value;
  const hash = createHash('sha256').update(value).digest('hex').slice(0, HASH_LENGTH);
  const plain = value.replace(/[^\w+=,.@-]/g, '-').slice(0, MAX_LENGTH - HASH_LENGTH - 1);
  return `${plain}-${hash}`;
}
