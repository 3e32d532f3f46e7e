import { type Call, CallRefused, type CallResult, type Core, type Dispatch, toolFailure } from '@toolmgr/core';
import {
  CANNOT_ASK,
  confirm,
  isAnswered,
  MAX_QUESTION,
  questionAbout,
  withoutAnswer,
} from '@toolmgr/plugins/kit/confirm';
import type { Verdict } from './engine.ts';
import type { Policy } from './parse-policies.ts';

/** Makes calls that only policies with `@approval` permit, after a person has agreed. */
export interface Approvals {
  /** Calls the tool, asks first where the verdict requires it, or refuses. */
  dispatch(call: Call, verdict: Verdict, dispatch: Dispatch): Promise<CallResult>;
}

/** Whether any of these texts may have the annotation; policies are parsed later. */
export function mentionApproval(texts: readonly string[]): boolean {
  return texts.some((text) => text.includes('approval')); // Cedar allows spaces and comments after the @
}

/**
 * Approvals in place: the person behind the client is asked, with every argument, for each call. The answer is bound to caller, tool and
 * arguments and is used once, over replicas where they share Redis.
 */
export function createApprovals(
  core: Pick<Core, 'log' | 'now' | 'server' | 'slots'>,
  address: string,
  policies: readonly Policy[],
): Approvals {
  const texts = new Map(
    policies.flatMap(({ id, json }) => (json.annotations?.approval ? [[id, json.annotations.approval]] : [])),
  );
  const purpose = { address, claim: claimer(core) };
  const say = (call: Call, what: string, by: readonly string[]): void =>
    core.log.info(what, { call: call.id, caller: call.caller.subject, tool: call.target.key, policies: by });
  return {
    async dispatch(call, { isAllowed, policies: deciding }, dispatch) {
      const needed = deciding.map((id) => texts.get(id));
      // another policy may permit the call without approval
      if (!isAllowed || needed.length === 0 || needed.includes(undefined)) return dispatch(call);
      if (call.method !== 'tools/call')
        throw refused('a person must agree to it first, which is possible only for tools');
      if (call.backendState !== undefined && !isAnswered(call, purpose)) throw refused(NO_ROUNDS);
      const { original, backend } = call.target;
      const what = `${[...new Set(needed)].join('; ')}. Run the tool ${original} of ${backend}`;
      const question = questionAbout(what, Object.entries(call.arguments));
      if (question === undefined) throw refused(TOO_LONG);
      const answer = await confirm(call, question, purpose);
      if (answer === 'cannotAsk') throw refused(CANNOT_ASK);
      if (answer === 'declined') {
        say(call, 'a person declined a call', deciding);
        throw refused('the person declined');
      }
      if (answer !== 'confirmed') return answer;
      say(call, 'a person approved a call', deciding);
      const result = await dispatch(withoutAnswer(call, purpose));
      // another round would be another call with the same approval
      return result.resultType === 'input_required' ? toolFailure(NO_ROUNDS) : result;
    },
  };
}

/** Used answers that are remembered; when there are more, the question is asked again. */
const MAX_USED = 100_000;
/** Longer than a client may take to answer. */
const USED_MS = 86_400_000;

function claimer({
  now,
  server,
  slots,
}: Pick<Core, 'now' | 'server' | 'slots'>): (id: string) => boolean | Promise<boolean> {
  if (slots.stores.has('redis')) {
    const store = slots.stores.get('redis');
    return async (id) =>
      (await store.take([{ key: `approval:${server.name}:${id}`, capacity: 1, refillPeriodMs: USED_MS }], now())) === 0;
  }
  return (id) => claimHere(id, now());
}

/** Of all gateways of this process: after a reload an answer is still used. By id, until when it is remembered. */
const used = new Map<string, number>();

function claimHere(id: string, nowMs: number): boolean {
  for (const [old, untilMs] of used) {
    if (untilMs > nowMs) break; // all are remembered for the same time
    used.delete(old);
  }
  if (used.has(id) || used.size >= MAX_USED) return false;
  used.set(id, nowMs + USED_MS);
  return true;
}

function refused(reason: string): CallRefused {
  return new CallRefused({ refused: true, status: 403, reason });
}

const TOO_LONG = `a person must agree to it first, who is shown ${MAX_QUESTION} characters at most, and its arguments are longer`;
const NO_ROUNDS = 'a person must agree to each call of it, so the tool cannot ask for further input';
