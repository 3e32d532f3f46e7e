import {
  type Call,
  type CatalogEntry,
  type Core,
  type JsonObject,
  type ThrottledLine,
  throttledLine,
} from '@toolmgr/core';
import { redactedText } from '../../shared/redact.ts';
import type { Verdict } from './engine.ts';
import { QUESTIONS } from './entry-facts.ts';

/** Lines about denied calls in one second; what is more is counted. */
const DENIALS_PER_SECOND = 50;
/** Names come from clients: a URI may hold a token. Secrets are looked for in a little more than is written. */
const MAX_NAME = 200;
const MAX_READ = 1_024;

/** Says which policies decided: what was allowed at debug, what was denied at info, what failed as a warning. */
export interface DecisionLog {
  called(call: Call, verdict: Verdict): void;
  /** An entry was left out of a list because a policy failed. */
  leftOut(entry: CatalogEntry, verdict: Verdict): void;
}

/** Makes the log. No claim and no argument is ever part of a line; secrets in names and words are masked as audit masks them. */
export function createDecisionLog({ log, now }: Pick<Core, 'log' | 'now'>): DecisionLog {
  const failing = new Map<string, ThrottledLine>(); // as many as there are policies
  let second = 0;
  let lines = 0;
  let suppressed = 0;
  let last: string | undefined;

  const warn = (verdict: Verdict): void => {
    for (const { policy, message } of verdict.errors) {
      const line = failing.get(policy) ?? throttledLine({ log, now }, 'a policy failed, which denies');
      failing.set(policy, line);
      line.add({ policy, error: redactedText(message) });
    }
  };

  /** The words to add to this line, or `undefined` when there are enough lines in this second. */
  const room = (): JsonObject | undefined => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      lines = 0;
    }
    if (++lines > DENIALS_PER_SECOND) {
      suppressed++;
      return undefined;
    }
    const more = suppressed === 0 ? {} : { suppressed };
    suppressed = 0;
    return more;
  };

  return {
    called(call, verdict) {
      if (verdict.isAllowed && call.target.isMissing) return;
      if (verdict.isAllowed) return log.debug('allowed by policy', decision(call, verdict));
      warn(verdict);
      if (call.id === last && call.target.isMissing) return; // asked again, to say no more than the lists do
      last = call.id;
      const more = room();
      if (more !== undefined) log.info('denied by policy', { ...decision(call, verdict), ...more });
    },
    leftOut(_entry, verdict) {
      warn(verdict);
    },
  };
}

function decision(call: Call, { policies, errors, reason }: Verdict): JsonObject {
  const { action, type } = QUESTIONS[call.target.kind];
  return {
    call: call.id,
    caller: shown(call.caller.subject),
    action,
    resource: `${type}::${JSON.stringify(shown(call.name))}`,
    policies,
    claims: 'issued token',
    ...(errors.length === 0 ? {} : { failed: errors.map(({ policy }) => policy) }),
    ...(reason === undefined ? {} : { reason: shown(reason) }),
  };
}

function shown(text: string): string {
  return redactedText(text.slice(0, MAX_READ)).slice(0, MAX_NAME);
}
