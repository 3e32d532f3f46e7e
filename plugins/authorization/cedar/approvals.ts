import {
  type Call,
  type Caller,
  CallRefused,
  type CallResult,
  type Core,
  type Dispatch,
  toolFailure,
} from '@toolmgr/core';
import {
  CANNOT_ASK,
  confirm,
  isAnswered,
  MAX_QUESTION,
  type Purpose,
  questionAbout,
  toolOf,
  withoutAnswer,
} from '@toolmgr/plugins/kit/confirm';
import type { Decisions } from './decisions.ts';
import type { Verdict } from './engine.ts';
import type { Policy } from './parse-policies.ts';

/** Makes calls that only policies with `@approval` permit, after a person has agreed. */
export interface Approvals {
  /** Whether one of these policies may permit the tool to this caller, with some arguments. */
  concern(call: Call, caller: Caller): boolean;
  /** Calls the tool, asks first where the verdict requires it, or refuses. */
  dispatch(call: Call, verdict: Verdict, dispatch: Dispatch): Promise<CallResult>;
  /** Releases the prepared policies. */
  close(): void;
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
  all: readonly Policy[],
  decisionsOf: (policies: readonly Policy[]) => Decisions & { close(): void },
): Approvals {
  const policies = all.filter(({ json }) => json.annotations?.approval);
  const texts = new Map(policies.map(({ id, json }) => [id, json.annotations?.approval]));
  const own = policies.length === 0 ? undefined : decisionsOf(policies);
  const purpose = { address, claim: claimer(core) };
  const say = (call: Call, what: string, by: readonly string[]): void =>
    core.log.info(what, { call: call.id, caller: call.caller.subject, tool: call.target.key, policies: by });
  return {
    concern({ target }, caller) {
      if (own === undefined || target.held !== undefined || target.isDispatcher) return false;
      const { isAllowed, errors, reason } = own.ofEntry(target, caller);
      return isAllowed || errors.length > 0 || reason !== undefined;
    },
    async dispatch(call, { isAllowed, policies: deciding }, dispatch) {
      // also steps of composite tools, which are not authorized: otherwise arguments that are denied would need no approval
      if (!isAllowed) throw refused('call denied by authorization policy');
      const needed = deciding.map((id) => texts.get(id));
      // another policy may permit the call without approval
      if (needed.includes(undefined)) return dispatch(call);
      if (call.method !== 'tools/call')
        throw refused('a person must agree to it first, which is possible only for tools');
      if (call.backendState !== undefined && !isAnswered(call, purpose)) throw refused(NO_ROUNDS);
      const question = questionAbout(`${[...new Set(needed)].join('; ')}. Run the tool ${toolOf(call)}`, call);
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
    close: () => own?.close(),
  };
}

/** Used answers that are remembered for one caller and in all; when there are more, the question is asked again. */
const MAX_USED_OF_CALLER = 1_000;
const MAX_USED = 200_000;
/** As long as a `requestState` can be valid. */
const USED_MS = 86_400_000;

function claimer({ now, server, slots }: Pick<Core, 'now' | 'server' | 'slots'>): NonNullable<Purpose['claim']> {
  if (!slots.stores.has('redis')) return (id, { caller }) => claimHere(id, caller.key, now());
  const store = slots.stores.get('redis');
  return async (id) =>
    (await store.take([{ key: `approval:${server.name}:${id}`, capacity: 1, refillPeriodMs: USED_MS }], now())) === 0;
}

/** Of all gateways of this process: after a reload an answer is still used. By id. */
const used = new Map<string, { readonly caller: string; readonly untilMs: number }>();
/** How many of them each caller has. */
const usedBy = new Map<string, number>();

function claimHere(id: string, caller: string, nowMs: number): boolean {
  for (const [old, { untilMs, caller: by }] of used) {
    if (untilMs > nowMs) break; // all are remembered for the same time
    used.delete(old);
    const left = (usedBy.get(by) ?? 0) - 1;
    if (left > 0) usedBy.set(by, left);
    else usedBy.delete(by);
  }
  const own = usedBy.get(caller) ?? 0;
  if (used.has(id) || own >= MAX_USED_OF_CALLER || used.size >= MAX_USED) return false;
  used.set(id, { caller, untilMs: nowMs + USED_MS });
  usedBy.set(caller, own + 1);
  return true;
}

function refused(reason: string): CallRefused {
  return new CallRefused({ refused: true, status: 403, reason });
}

const TOO_LONG = `a person must agree to it first, who is shown ${MAX_QUESTION} characters at most, and its arguments are longer or have numbers of more than 15 digits`;
const NO_ROUNDS = 'a person must agree to each call of it, so the tool cannot ask for further input';
