import type { Caller } from '../contract/caller.ts';
import type { Refusal } from '../contract/refusal.ts';

/** Adds the caller's challenge to a 403 without one. */
export function withChallenge(refusal: Refusal, { challenge }: Caller): Refusal {
  if (challenge === undefined || refusal.status !== 403) return refusal;
  return { ...refusal, headers: { 'www-authenticate': challenge, ...refusal.headers } };
}
