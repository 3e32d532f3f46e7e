import type { BackendManager } from '../backend/backend-manager.ts';
import type { Call, CallRecord, CallResult, CatalogEntry, Dispatch } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { RequestListener } from '../contract/request-record.ts';
import type { Guarded } from '../extension/guard.ts';
import type { Hooks } from '../extension/hooks.ts';

/** A hook without taps returns a value; one with taps may return a promise. */
type ValueOrPromise<T> = T | Promise<T>;

/** The hooks of one request as plain functions, in the order in which a call passes them. */
export interface Pipeline {
  identify(inbound: Inbound): ValueOrPromise<Caller | Refusal | undefined>;
  rewriteCall(call: Call): ValueOrPromise<Call | Refusal>;
  authorize(call: Call): ValueOrPromise<Refusal | undefined>;
  limit(call: Call): ValueOrPromise<Refusal | undefined>;
  dispatch: Dispatch;
  rewriteResult(result: CallResult, call: Call): ValueOrPromise<CallResult>;
  /** Absent without taps: then cached pages are sent. */
  readonly advertise:
    | ((entries: readonly CatalogEntry[], caller: Caller) => Promise<readonly CatalogEntry[]>)
    | undefined;
  settle(record: CallRecord): void;
  /** Text about the backends that an unknown name may belong to; `undefined` or absent without any. */
  mayBeOf?(listClass: string): string | undefined;
  /** Absent without listeners: then no record is made. */
  readonly requests: RequestListener | undefined;
  now(): number;
}

/**
 * Seals the hooks and compiles them into functions; a hook without taps costs nothing.
 * @throws GatewayFault PLUGIN_FAILED when a `wrapDispatch` tap throws
 */
export function compilePipeline(hooks: Hooks, dispatch: Dispatch, now: () => number): Pipeline {
  for (const hook of Object.values(hooks)) hook.seal();
  const { authenticate, rewriteCall, authorize, limit, rewriteResult, advertise, wrapDispatch, callSettled } = hooks;
  const { requestSettled, streamOpened } = hooks;
  const isHeard = requestSettled.tapped() || streamOpened.tapped();
  return {
    identify: firstAnswer(authenticate),
    rewriteCall: rewriteCall.tapped() ? (call) => rewriteCall.promise(call) : (call) => call,
    authorize: firstAnswer(authorize),
    limit: firstAnswer(limit),
    dispatch: wrapDispatch.call(dispatch),
    rewriteResult: rewriteResult.tapped() ? (result, call) => rewriteResult.promise(result, call) : (result) => result,
    advertise: advertise.tapped() ? (entries, caller) => advertise.promise(entries, caller) : undefined,
    settle: callSettled.tapped() ? (record) => callSettled.call(record) : () => {},
    requests: isHeard
      ? {
          settled: (record) => requestSettled.call(record),
          streamOpened: (record) => streamOpened.call(record),
          now,
        }
      : undefined,
    now,
  };
}

/** Runs a call at its target: virtual entries run themselves, all others are sent to their backend. */
export function createTargetDispatch(manager: Pick<BackendManager, 'send'>): Dispatch {
  return (call) => (call.target.run === undefined ? manager.send(call) : call.target.run(call));
}

/** A hook in which the first defined value wins. Synchronous when all taps are. */
function firstAnswer<V, A>(hook: DecisionHook<V, A>): (value: V) => ValueOrPromise<A | undefined> {
  const taps = hook.syncTaps();
  if (taps === undefined) return (value) => hook.promise(value);
  return (value) => {
    for (const tap of taps) {
      const answer = tap(value);
      if (answer !== undefined) return answer as A;
    }
    return undefined;
  };
}

interface DecisionHook<V, A> extends Guarded {
  promise(value: V): Promise<A | undefined>;
}
