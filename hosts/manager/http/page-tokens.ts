import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Lets a page in the browser call the manager, without the token of the token file. */
export interface PageTokens {
  /** A code that is exchanged once, within {@link CODE_MS}. */
  newCode(): { readonly code: string; readonly expires_at: string };
  /** Exchanges a code for a token; `undefined` when it was used, has expired or never existed. */
  redeem(code: string): { readonly token: string; readonly expires_at: string } | undefined;
  isPageToken(token: string): boolean;
}

/** How long a code can be exchanged, in milliseconds. */
export const CODE_MS = 300_000;
const TOKEN_MS = 86_400_000;
const MAX_CODES = 100; // waiting to be exchanged; the oldest is dropped

/**
 * Page tokens are signed with the token of the token file, so they are valid in the next process too, and end when that file
 * is replaced.
 *
 * Shape of a token: `page.EXPIRES.SIGNATURE`, EXPIRES in epoch milliseconds.
 */
export function createPageTokens(fileToken: string, now: () => number = Date.now): PageTokens {
  const codes = new Map<string, number>();
  return {
    newCode() {
      const code = randomBytes(24).toString('base64url');
      const expires = now() + CODE_MS;
      codes.set(code, expires);
      const [oldest] = codes.keys();
      if (codes.size > MAX_CODES && oldest !== undefined) codes.delete(oldest);
      return { code, expires_at: new Date(expires).toISOString() };
    },
    redeem(code) {
      const expires = codes.get(code);
      codes.delete(code);
      if (expires === undefined || expires < now()) return undefined;
      const ends = now() + TOKEN_MS;
      return { token: `page.${ends}.${signature(fileToken, ends)}`, expires_at: new Date(ends).toISOString() };
    },
    isPageToken(token) {
      const [, ends, given] = /^page\.(\d{1,15})\.([\w-]{43})$/.exec(token) ?? [];
      if (ends === undefined || given === undefined || Number(ends) < now()) return false;
      return timingSafeEqual(Buffer.from(given), Buffer.from(signature(fileToken, Number(ends))));
    },
  };
}

function signature(fileToken: string, ends: number): string {
  return createHmac('sha256', fileToken).update(`toolmgr page ${ends}`).digest('base64url');
}
