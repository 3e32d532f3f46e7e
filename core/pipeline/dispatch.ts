import type { BackendManager } from '../backend/backend-manager.ts';
import { BackendError } from '../backend/backend-manager.ts';
import { needsWrapping } from '../catalog/definition.ts';
import type { Call, CallResult, ClientContext, Dispatch } from '../contract/call.ts';
import type { JsonValue, RawMembers } from '../contract/json.ts';
import { decode, encode, isObject, RawObject } from '../json/raw-json.ts';
import type { Limits } from '../limits.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { BytesResult, membersOf, toolFailure } from '../mcp/result.ts';
import {
  canAnswer,
  capabilityFor,
  inputRequired,
  modernQuestion,
  type Question,
  questionsOf,
} from '../mcp/server-requests.ts';
import { fulfil } from './bridge/fulfil.ts';
import type { RoundState, StateSeal } from './bridge/request-state.ts';
import type { RoundEnd, SuspendedCalls } from './bridge/suspended-calls.ts';
import { callWith } from './call-value.ts';
import { CallError, staleState } from './wire-faults.ts';

/** A call that goes on with one that is parked in this process. */
export interface Parking {
  readonly parked?: string;
}

/** What dispatching needs below it. */
export interface DispatchParts {
  readonly manager: Pick<BackendManager, 'send'>;
  readonly suspendedCalls: SuspendedCalls;
  readonly seal: StateSeal;
  readonly limits: Limits;
  /** Era of a backend when it is known. */
  eraOf(workload: string): string | undefined;
}

/** Runs a call at its target: a virtual entry answers itself, everything else goes to its backend. */
export function createTargetDispatch(manager: Pick<BackendManager, 'send'>): Dispatch {
  return (call) => (call.target.run === undefined ? manager.send(call) : call.target.run(call));
}

/**
 * The four client x backend cells around a dispatch: questions of backends reach clients of either era.
 *
 * modern x modern: `input_required` is relayed, its state sealed. legacy x modern: fulfilled with real requests.
 * modern x legacy: the call is parked between requests. legacy x legacy: `asker.ask` does it, nothing to add.
 */
export function createBridge(parts: DispatchParts, dispatch: Dispatch): Dispatch {
  return (call) => {
    if (call.parent !== undefined) return answered(parts, dispatch, call); // for the one who made it, not for the client
    if (call.client.era === '2025-11-25') return legacyClient(parts, dispatch, call);
    const { parked } = call as Call & Parking;
    if (parked !== undefined) return resumed(parts, call, parked);
    if (mayAsk(parts, call)) return parkable(parts, dispatch, call);
    return relayed(parts, dispatch, call);
  };
}

async function relayed(parts: DispatchParts, dispatch: Dispatch, call: Call): Promise<CallResult> {
  return modernRelay(parts, call, await dispatch(call));
}

/** Only a legacy backend, or a virtual entry, asks in the middle of a call. */
function mayAsk({ eraOf }: DispatchParts, call: Call): boolean {
  return call.target.run !== undefined || eraOf(call.target.workload) === '2025-11-25';
}

/** A client that can be asked gets a place to wait; one that cannot hears what it would have needed. */
async function parkable(parts: DispatchParts, dispatch: Dispatch, call: Call): Promise<CallResult> {
  const run = (client: ClientContext, signal: AbortSignal): Promise<CallResult> => {
    return withDeclaredOnly(client, (checked) => dispatch(callWith(call, { client: checked, signal })));
  };
  if (call.client.owner.capabilityClass === '') {
    const result = await withDeclaredOnly(call.client, (checked) => dispatch(callWith(call, { client: checked })));
    return modernRelay(parts, call, result);
  }
  return afterRound(parts, call, await parts.suspendedCalls.run(call, run));
}

/** Ends a call with -32021 when its backend asked for what the client did not declare; the backend hears an error. */
async function withDeclaredOnly(
  client: ClientContext,
  run: (client: ClientContext) => Promise<CallResult>,
): Promise<CallResult> {
  let undeclared: Question | undefined;
  const result = await run({
    ...client,
    ask: async (method, params, signal) => {
      const question = modernQuestion({ method, params });
      if (client.ask !== undefined && canAnswer(client.capabilities, question))
        return client.ask(method, params, signal);
      undeclared ??= question;
      return { error: wireError(CODE.methodNotFound, `the client does not support ${method}`) };
    },
  });
  if (undeclared !== undefined) throw new CallError(missingCapability(undeclared));
  return result;
}

async function resumed(parts: DispatchParts, call: Call, handle: string): Promise<CallResult> {
  const end = parts.suspendedCalls.resume(handle, call, call.inputResponses);
  if (end === undefined) throw new CallError(staleState());
  return afterRound(parts, call, await end);
}

function afterRound(parts: DispatchParts, call: Call, end: RoundEnd): CallResult | Promise<CallResult> {
  if ('result' in end) return modernRelay(parts, call, end.result);
  return asked(parts, call, end.questions, { parked: end.parked });
}

/** Seals the backend's own state, so that a retry is bound to this caller, target and arguments. */
function modernRelay(parts: DispatchParts, call: Call, result: CallResult): CallResult {
  const members = membersOf(result);
  if (result.resultType !== 'input_required') return withContent(call, result, members);
  const inner = members.string('requestState');
  return asked(parts, call, questionsOf(members), inner === undefined ? {} : { inner });
}

/** Legacy servers may leave `content` out of a tool result; modern clients may rely on it. */
function withContent(call: Call, result: CallResult, members: RawMembers): CallResult {
  if (call.method !== 'tools/call' || result.resultType !== 'complete' || members.has('content')) return result;
  return new BytesResult(members.with('content', NO_CONTENT).toBytes());
}

function asked(
  parts: DispatchParts,
  call: Call,
  questions: ReadonlyMap<string, Question>,
  carried: Pick<RoundState, 'inner' | 'parked'>,
): CallResult {
  if (call.round >= parts.limits.rounds) {
    throw new CallError(
      wireError(CODE.internalError, `the backend asked for input more than ${parts.limits.rounds} times`),
    );
  }
  for (const question of questions.values()) {
    // A client must never be asked for what it did not declare (MCP 2026-07-28, input required).
    if (!canAnswer(call.client.capabilities, question)) throw new CallError(missingCapability(question));
  }
  const state = { callId: call.id, round: call.round + 1, workload: call.target.workload, ...carried };
  const sealed = parts.seal.seal(state, call);
  if (sealed.length > parts.limits.requestStateBytes) {
    throw new CallError(wireError(CODE.internalError, 'the state of the backend is too large to carry'));
  }
  return new BytesResult(inputRequired(questions, sealed));
}

async function legacyClient(parts: DispatchParts, dispatch: Dispatch, call: Call): Promise<CallResult> {
  return withObjectContent(call, await answered(parts, dispatch, call));
}

/** Puts the questions of a modern backend to whoever can be asked in the middle of the call. */
async function answered(parts: DispatchParts, dispatch: Dispatch, call: Call): Promise<CallResult> {
  const first = await dispatch(call);
  if (first.resultType !== 'input_required') return first;
  const end = await fulfil(first, {
    ask: call.client.ask,
    maxRounds: parts.limits.rounds,
    signal: call.signal,
    again: (responses, backendState, round) =>
      dispatch(callWith(call, { inputResponses: responses, backendState, round })),
  });
  if (!('unanswered' in end)) return end;
  if (call.method === 'tools/call') return toolFailure(end.unanswered);
  throw new CallError(wireError(CODE.internalError, end.unanswered));
}

/**
 * Modern servers may give any value as `structuredContent`, legacy clients take objects only: it is wrapped as the listed
 * output schema is. What a legacy server gives is in the client's own revision, whatever it is, and stays.
 */
function withObjectContent(call: Call, result: CallResult): CallResult {
  if (call.method !== 'tools/call' || isLegacyResult(result, call)) return result;
  const members = membersOf(result);
  const structured = members.get('structuredContent');
  if (structured === undefined || (structured[0] === OPEN_BRACE && !needsWrapping(call.target))) return result;
  const wrapped = RawObject.empty().with('result', structured);
  return new BytesResult(members.with('structuredContent', wrapped.toBytes()).toBytes());
}

/** Whether a result came in the client's own revision; a layer may have made another one of it. */
function isLegacyResult(result: CallResult, { target }: Call): boolean {
  const era = result instanceof BytesResult ? result.era : undefined;
  return (era ?? target.era) === '2025-11-25';
}

/**
 * A legacy backend may say "open this URL first" by error -32042; a modern client hears it as a question.
 * Answering it means calling again: the backend kept what it needs.
 */
export function withUrlQuestions(parts: DispatchParts, dispatch: Dispatch): Dispatch {
  const asking = async (call: Call): Promise<CallResult> => {
    try {
      return await dispatch(call);
    } catch (thrown) {
      if (!(thrown instanceof BackendError)) throw thrown;
      if (thrown.code !== CODE.legacyUrlElicitationRequired || thrown.data === undefined) throw thrown;
      const questions = urlQuestions(decode(thrown.data));
      if (questions.size === 0) throw thrown;
      return asked(parts, call, questions, {});
    }
  };
  return (call) => {
    const isMixed = call.client.era === '2026-07-28' && parts.eraOf(call.target.workload) !== '2026-07-28';
    return isMixed ? asking(call) : dispatch(call);
  };
}

function urlQuestions(data: JsonValue): ReadonlyMap<string, Question> {
  const elicitations = isObject(data) && Array.isArray(data.elicitations) ? (data.elicitations as JsonValue[]) : [];
  const questions = elicitations
    .filter(isObject)
    .map((params, index): [string, Question] => [
      `url${index + 1}`,
      modernQuestion({ method: 'elicitation/create', params: encode({ ...params, mode: 'url' }) }),
    ]);
  return new Map(questions);
}

function missingCapability(question: Question) {
  const required = capabilityFor(question) ?? {};
  return wireError(
    CODE.missingCapability,
    'the backend needs input of a kind that the client did not declare',
    { requiredCapabilities: required },
    400,
  );
}

const NO_CONTENT = Buffer.from('[]');
const OPEN_BRACE = 0x7b;
