import { createHash } from 'node:crypto';
import type { PolicyServer } from './policy-server.ts';
import type { Question } from './questions.ts';

/** Answers of the policy server, new ones and those that are kept. */
export interface Answers {
  /** One decision for each question. @throws what {@link PolicyServer.decide} throws */
  to(questions: readonly Question[], signal?: AbortSignal): Promise<readonly boolean[]>;
}

const MAX_KEPT = 20_000; // about 3 MB

/** Asks the policy server what is not known yet. An answer is used for `cacheForMs`; a failure is not kept. */
export function createAnswers(server: Pick<PolicyServer, 'decide'>, cacheForMs: number, now: () => number): Answers {
  const kept = new Map<string, { readonly decision: boolean; readonly untilMs: number }>();
  const keep = (key: string, decision: boolean): void => {
    kept.delete(key); // the oldest answers are first
    kept.set(key, { decision, untilMs: now() + cacheForMs });
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value ?? '');
  };
  return {
    async to(questions, signal) {
      if (cacheForMs === 0) return server.decide(questions, signal);
      const keys = questions.map(keyOf);
      const known = keys.map((key) => {
        const answer = kept.get(key);
        return answer !== undefined && now() < answer.untilMs ? answer.decision : undefined;
      });
      const open = questions.filter((_, at) => known[at] === undefined);
      if (open.length === 0) return known as boolean[];
      const decided = (await server.decide(open, signal)).values();
      return known.map((decision, at) => {
        if (decision !== undefined) return decision;
        const fresh = decided.next().value === true;
        keep(keys[at] as string, fresh);
        return fresh;
      });
    },
  };
}

/** A digest, so that no arguments or claims stay in memory. */
function keyOf({ subject, action, resource, context }: Question): string {
  return createHash('sha256')
    .update(JSON.stringify([subject, action, resource, context]))
    .digest('base64');
}
