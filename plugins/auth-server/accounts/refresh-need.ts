import { decodeJwt } from 'jose';
import type { TokenRow } from './accounts.ts';

const EARLY_MS = 30_000; // before the end of a token, for latency and clock skew
const MAX_EARLY_SHARE = 0.2; // of the life of a short one

/** Which token of a row a caller needs. */
export type NeededToken = 'accessToken' | 'idToken';

/** Whether a token of the row may be used at `nowMs`. */
export function isUsable(row: TokenRow, need: NeededToken, nowMs: number): boolean {
  return row.problem !== 'invalid' && row.problem !== 'unchecked' && endOf(row, need) > nowMs;
}

/** Whether the row needs a refresh before its token is used. */
export function needsRefresh(row: TokenRow, need: NeededToken, nowMs: number): boolean {
  const fromMs = refreshFrom(row, need);
  if (row.problem === 'unchecked') return true;
  // a provider that returns no new ID token when it refreshes is not requested again for the same one
  return fromMs <= nowMs && (need === 'accessToken' || fromMs > row.issuedMs);
}

/** Whether a refresh may succeed. */
export function isRefreshable({ tokens, problem }: TokenRow): boolean {
  return tokens.refreshToken !== undefined && problem !== 'refused' && problem !== 'invalid';
}

/** Epoch milliseconds from which an access token is used no more without a new look at the row. */
export function usableUntil(row: TokenRow): number {
  return isRefreshable(row) ? refreshFrom(row, 'accessToken') : endOf(row, 'accessToken');
}

function refreshFrom(row: TokenRow, need: NeededToken): number {
  const endMs = endOf(row, need);
  if (endMs === Number.POSITIVE_INFINITY) return endMs;
  const lifeMs = Math.max(0, endMs - startOf(row, need));
  return endMs - Math.min(EARLY_MS, lifeMs * MAX_EARLY_SHARE);
}

function endOf({ tokens }: TokenRow, need: NeededToken): number {
  const endMs = need === 'accessToken' ? tokens.expiresMs : millis(idTokenClaims(tokens).exp);
  return endMs ?? Number.POSITIVE_INFINITY;
}

function startOf({ tokens, issuedMs }: TokenRow, need: NeededToken): number {
  return need === 'accessToken' ? issuedMs : (millis(idTokenClaims(tokens).iat) ?? issuedMs);
}

function millis(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** The ID token was verified when it was stored. */
function idTokenClaims({ idToken }: TokenRow['tokens']): { readonly exp?: number; readonly iat?: number } {
  if (idToken === undefined) return {};
  try {
    return decodeJwt(idToken.reveal());
  } catch {
    return {};
  }
}
