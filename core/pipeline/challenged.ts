import type { Caller } from '../contract/caller.ts';
import type { Refusal } from '../contract/refusal.ts';

/** A 403 with the challenge of whoever authenticated the caller, unless the refusal has one of its own. */
export function challenged(refusal: Refusal, { challenge }: Caller): Refusal {
  if (challenge === undefined || refusal.status !== 403) return refusal;
  return { ...refusal, headers: { 'www-authenticate': challenge, ...refusal.headers } };
}
