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
import { REQUEST_KINDS } from './entry-facts.ts';

/** Maximum log lines about denied calls per second; further ones are counted. */
const DENIALS_PER_SECOND = 50;
/** Maximum characters of names from clients; secrets such as a token in a URI are masked before the cut. */
const MAX_NAME = 200;
const MAX_READ = 1_024;

/** Logs the policies of a decision: allowed at debug, denied at info, failed policies as warnings. */
export interface DecisionLog {
  logCall(call: Call, verdict: Verdict): void;
  /** An entry is missing in a list because a policy failed. */
  filteredOut(entry: CatalogEntry, verdict: Verdict): void;
}

/** Creates the log. Lines never contain claims or arguments; secrets in names and messages are masked. */
export function createDecisionLog({ log, now }: Pick<Core, 'log' | 'now'>): DecisionLog {
  const failing = new Map<string, ThrottledLine>(); // at most one per policy
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

  /** Fields to add to this line; `undefined` when the limit of this second is reached. */
  const allowLine = (): JsonObject | undefined => {
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
    logCall(call, verdict) {
      if (verdict.isAllowed && call.target.isMissing) return;
      if (verdict.isAllowed) return log.debug('allowed by policy', decision(call, verdict));
      warn(verdict);
      if (call.id === last && call.target.isMissing) return; // authorized twice, so that a refusal reveals no more than the lists
      last = call.id;
      const more = allowLine();
      if (more !== undefined) log.info('denied by policy', { ...decision(call, verdict), ...more });
    },
    filteredOut(_entry, verdict) {
      warn(verdict);
    },
  };
}

function decision(call: Call, { policies, errors, reason }: Verdict): JsonObject {
  const { action, type } = REQUEST_KINDS[call.target.kind];
  return {
    call: call.id,
    caller: quoted(call.caller.subject),
    action,
    resource: `${type}::${JSON.stringify(quoted(call.name))}`,
    policies,
    claims: 'issued token',
    ...(errors.length === 0 ? {} : { failed: errors.map(({ policy }) => policy) }),
    ...(reason === undefined ? {} : { reason: quoted(reason) }),
  };
}

function quoted(text: string): string {
  return redactedText(text.slice(0, MAX_READ)).slice(0, MAX_NAME);
}
