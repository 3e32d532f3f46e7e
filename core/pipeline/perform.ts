import type { Call, CallRecord, CallResult, Reply } from '../contract/call.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { WireError } from '../contract/wire-error.ts';
import { explainCause, UserActionRequired } from '../errors.ts';
import { CallRefused } from '../extension/call-refused.ts';
import type { Log } from '../extension/plugin.ts';
import { isPromise } from '../timing/is-promise.ts';
import type { BridgeResultParts } from './bridge/bridge.ts';
import type { ResumingCall } from './bridge/request-state.ts';
import { callWith } from './call-value.ts';
import { ambiguousArguments } from './declared-arguments.ts';
import { denialOf, denialOfMissing, withChallenge } from './denial.ts';
import type { PausedCalls } from './paused-calls.ts';
import type { Pipeline } from './pipeline.ts';
import { type CatalogParts, catalogFor, findTarget } from './resolve.ts';
import { type AnsweredLink, replyWithLink, whenDone } from './user-action.ts';
import { CallError, LinkNotOpened, replyFromFault, UnknownEntry } from './wire-faults.ts';

/** What all calls share. */
export interface PipelineContext extends CatalogParts {
  readonly pipeline: Pipeline;
  readonly rounds: PausedCalls;
  readonly bridging: BridgeResultParts;
  readonly log: Log;
}

/**
 * Runs one call: rewrite, authorize, limit, dispatch, rewrite the result, settle.
 *
 * Authorize comes after rewriting, so that policies see the rewritten call. Limit comes after authorize, so that a
 * denied call consumes no rate-limit tokens. Settle always runs, once for all rounds of a call. A curated inner call
 * was decided together with the call that made it. Never rejects.
 */
export async function perform(context: PipelineContext, asked: Call, curated = false): Promise<Reply> {
  const { pipeline, rounds } = context;
  const resumed = asked.round === 1 ? undefined : rounds.resume(asked);
  const startedMs = resumed?.startedMs ?? pipeline.now();
  let call = asked;
  let outcome: CallRecord['outcome'] = 'fault';
  let refusal: Refusal | undefined;
  let error: WireError | undefined;
  let cause: unknown;
  let result: CallResult | undefined;
  try {
    // Awaiting an available value costs a turn of the microtask queue each time.
    const given = pipeline.rewriteCall(asked);
    const changed = isPromise(given) ? await given : given;
    if ('refused' in changed) {
      refusal = changed;
      outcome = 'refused';
      return await denialOf(pipeline, call, refusal);
    }
    call = rewritten(context, asked, changed);
    const isNew = resumed === undefined;
    const decided = curated ? undefined : afterLink((each) => decide(pipeline, each, isNew), call, asked);
    refusal = isPromise(decided) ? await decided : decided;
    if (refusal !== undefined) {
      outcome = 'refused';
      return await denialOf(pipeline, call, refusal);
    }
    const ambiguous = ambiguousArguments(call); // after authorize, because the error reveals argument names of the tool
    if (ambiguous !== undefined) throw new CallError(ambiguous);
    const answered = pipeline.rewriteResult(
      await (asked.round === 1 ? pipeline.dispatch(call) : nextRound(pipeline, call, asked)),
      call,
    );
    result = isPromise(answered) ? await answered : answered;
    outcome = result.isError ? 'toolError' : 'ok';
    return { result };
  } catch (thrown) {
    cause = thrown;
    if (thrown instanceof CallRefused) {
      refusal = thrown.refusal;
      outcome = 'refused';
      return { refusal: withChallenge(refusal, call.caller) };
    }
    const isLinked = thrown instanceof UserActionRequired;
    const reply = isLinked ? replyWithLink(context.bridging, call, thrown) : replyFromFault(call, thrown);
    refusal = reply.refusal;
    if ('error' in reply) error = reply.error;
    else if (isLinked) result = reply.result;
    outcome = call.cancel.aborted ? 'cancelled' : reply.outcome;
    if (reply.isOurs && !call.cancel.aborted) report(context, call, thrown);
    if ('error' in reply) return { error: reply.error };
    return isLinked ? { result: reply.result, requires: thrown } : { result: reply.result };
  } finally {
    const isPaused = result?.resultType === 'input_required';
    const record: CallRecord = {
      call,
      outcome,
      refusal,
      error,
      cause,
      startedMs,
      durationMs: pipeline.now() - startedMs,
      rounds: call.round,
      resultBytes: result?.bytes.length ?? 0,
      result: isPaused ? undefined : result,
    };
    if (isPaused) rounds.pause(record);
    else pipeline.settle(record);
  }
}

/** A later round: the backend's, or the same call after a link was sent. A call that was changed resumes the suspended one all the same. */
function nextRound({ dispatch }: Pipeline, call: Call, asked: Call & AnsweredLink & ResumingCall): Promise<CallResult> {
  const { link, parked } = asked;
  const next = parked === undefined || call === asked ? call : Object.assign(callWith(call, {}), { parked });
  return link === 'opened' ? whenDone(dispatch, next) : dispatch(next);
}

/** Decides after a link was sent: the decision may need what the person does in the browser, as the call may. */
function afterLink<T>(run: (call: Call) => T, call: Call, { link }: Call & AnsweredLink): T | Promise<Awaited<T>> {
  if (link === 'notOpened') throw new LinkNotOpened();
  return link === 'opened' ? whenDone(run, call) : run(call);
}

/** Authorize, then limit; only the first round of a call is counted. */
function decide(pipeline: Pipeline, call: Call, counts: boolean): ReturnType<Pipeline['authorize']> {
  const decided = pipeline.authorize(call);
  if (isPromise(decided)) return decided.then((refusal) => refusal ?? (counts ? pipeline.limit(call) : undefined));
  return decided ?? (counts ? pipeline.limit(call) : undefined);
}

/** Like {@link perform}; unknown names are authorized too, and then not found. Never rejects. */
export function performResolved(
  context: PipelineContext,
  found: { readonly call: Call } | { readonly missing: Call },
  curated = false,
): Promise<Reply> {
  return 'call' in found ? perform(context, found.call, curated) : answerMissing(context, found.missing);
}

async function answerMissing(context: PipelineContext, missing: Call & AnsweredLink): Promise<Reply> {
  try {
    return await afterLink((call) => denialOfMissing(context.pipeline, call), missing, missing);
  } catch (thrown) {
    const isLinked = thrown instanceof UserActionRequired;
    const reply = isLinked ? replyWithLink(context.bridging, missing, thrown) : replyFromFault(missing, thrown);
    if (reply.isOurs) report(context, missing, thrown);
    return 'error' in reply ? { error: reply.error } : { result: reply.result };
  }
}

/**
 * A rewrite that changed the name makes it a call of another entry, which is resolved and authorized under that name.
 */
function rewritten(context: PipelineContext, asked: Call, call: Call): Call {
  if (call.name === asked.name || call.target !== asked.target) return call;
  const target = findTarget(catalogFor(context, call), call.method, call.name, call.members);
  if (target === undefined) throw new UnknownEntry(call);
  return callWith(call, { target });
}

/** A plugin or the gateway itself failed. */
function report({ log }: PipelineContext, { id, name, target: { backend } }: Call, cause: unknown): void {
  log.error('a call failed', { call: id, name, backend, cause: explainCause(cause) });
}
