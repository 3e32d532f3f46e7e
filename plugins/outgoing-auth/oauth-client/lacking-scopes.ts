import { explainCause, type Log } from '@toolmgr/core';
import { challengesIn } from '@toolmgr/plugins/kit/oauth';
import type { TokenStore } from './token-store.ts';

const MAX_CHALLENGES = 32; // different ones that one process looks at
const MAX_SCOPES = 32; // of one challenge
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/; // RFC 6749 §3.3

/**
 * The scopes that a token lacks by a challenge; none unless its error is `insufficient_scope`.
 * Source: RFC 6750 §3.1; MCP 2025-11-25 authorization, scope challenge handling.
 */
export async function scopesLackedIn(challenge: string): Promise<readonly string[]> {
  const found = (await challengesIn(challenge)).find(({ scheme }) => scheme === 'bearer')?.parameters;
  if (found?.error !== 'insufficient_scope') return [];
  const scopes = (found.scope ?? '').split(' ').filter((each) => SCOPE.test(each));
  return [...new Set(scopes)].slice(0, MAX_SCOPES);
}

/** What {@link createLackingScopes} needs. */
export interface LackingScopesParts {
  readonly store: Pick<TokenStore, 'lacks'>;
  readonly workload: string;
  readonly log: Log;
  /** The next login requests further scopes. */
  found(): void;
}

/**
 * Keeps the scopes that the server asks for, for the next login: a refresh token cannot widen its scopes (RFC 6749 §6), and a
 * new authorization needs a person. Each challenge is looked at once. The function resolves with what the user has to do, or
 * with nothing when another login would not help. Never rejects.
 */
export function createLackingScopes({
  store,
  workload,
  log,
  found,
}: LackingScopesParts): (challenge: string) => Promise<string | undefined> {
  const answers = new Map<string, Promise<string | undefined>>();
  async function answerTo(challenge: string): Promise<string | undefined> {
    try {
      const scopes = await scopesLackedIn(challenge);
      if (scopes.length === 0 || !(await store.lacks(scopes))) return undefined;
      const advice = `a login with the scope ${scopes.join(' ')} is needed: toolmgr restart ${workload}`;
      log.warn(advice);
      found();
      return advice;
    } catch (cause) {
      log.warn('the scopes that the remote server asks for could not be kept', { reason: explainCause(cause) });
      return undefined;
    }
  }
  return (challenge) => {
    const known = answers.get(challenge);
    if (known !== undefined || answers.size >= MAX_CHALLENGES) return known ?? Promise.resolve(undefined);
    const answer = answerTo(challenge);
    answers.set(challenge, answer);
    return answer;
  };
}
