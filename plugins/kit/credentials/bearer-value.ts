import type { Secret } from '@toolmgr/core';

const MAX_TOKEN_LENGTH = 16 * 1024; // the limit of common servers for one header
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/; // RFC 6750 §2.1

/** The value of `Authorization` for a token; `undefined` when no header can carry it. */
export function bearerValue(token: Secret): string | undefined {
  const text = token.reveal();
  return isBearerToken(text) ? `Bearer ${text}` : undefined;
}

/** Whether a header can carry the token. */
export function isBearerToken(token: string): boolean {
  return token.length <= MAX_TOKEN_LENGTH && BEARER_TOKEN.test(token);
}
