import {
  type Call,
  type Caller,
  type CatalogEntry,
  type Core,
  explainCause,
  GatewayFault,
  type JsonObject,
  throttledLine,
} from '@toolmgr/core';
import { redactedText } from '@toolmgr/plugins/kit/secrets';
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
  /** A call or a list was denied, because the claims of the caller cannot be read. */
  unreadable(caller: Caller, cause: unknown): void;
}

/** Creates the log; `claims` says which claims policies read. Lines never contain claims or arguments; secrets in names and messages are masked. */
export function createDecisionLog({ log, now }: Pick<Core, 'log' | 'now'>, claims = 'issued token'): DecisionLog {
  const failing = new Map<string, ReturnType<typeof throttledLine>>(); // at most one per policy
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
      if (verdict.isAllowed) return log.debug('allowed by policy', decision(call, verdict, claims));
      warn(verdict);
      if (call.id === last && call.target.isMissing) return; // authorized twice, so that a refusal reveals no more than the lists
      last = call.id;
      const more = allowLine();
      if (more !== undefined) log.info('denied by policy', { ...decision(call, verdict, claims), ...more });
    },
    filteredOut(_entry, verdict) {
      warn(verdict);
    },
    unreadable(caller, cause) {
      const more = allowLine();
      if (more === undefined) return;
      const code = cause instanceof GatewayFault ? cause.code : 'PLUGIN_FAILED';
      const why = quoted(explainCause(cause));
      log.info('denied, because the claims cannot be read', {
        caller: quoted(caller.subject),
        claims,
        code,
        why,
        ...more,
      });
    },
  };
}

function decision(call: Call, { policies, errors, reason }: Verdict, claims: string): JsonObject {
  const { action, type } = REQUEST_KINDS[call.target.kind];
  return {
    call: call.id,
    caller: quoted(call.caller.subject),
    action,
    resource: `${type}::${JSON.stringify(quoted(call.name))}`,
    policies,
    claims,
    ...(errors.length === 0 ? {} : { failed: errors.map(({ policy }) => policy) }),
    ...(reason === undefined ? {} : { reason: quoted(reason) }),
  };
}

function quoted(text: string): string {
  return redactedText(text.slice(0, MAX_READ)).slice(0, MAX_NAME);
}
