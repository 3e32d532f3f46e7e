import type { BackendManager } from '../../backend/backend-manager.ts';
import { needsWrapping } from '../../catalog/entry-definition.ts';
import type { Call, CallResult, Dispatch } from '../../contract/call.ts';
import type { ClientContext } from '../../contract/client-context.ts';
import type { JsonValue, RawMembers } from '../../contract/json.ts';
import { decode, encode, isObject } from '../../json/json-value.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { BytesResult, membersOf, toolFailure } from '../../mcp/envelope.ts';
import { BackendError, CODE, wireError } from '../../mcp/errors.ts';
import { canAnswer, capabilityFor, type ServerRequest } from '../../mcp/server-requests.ts';
import { callWith } from '../call-value.ts';
import { CallError, staleState } from '../wire-faults.ts';
import { fulfil, inputRequestsOf, inputRequired, modernRequest } from './input-required.ts';
import type { ResumingCall, RoundState, StateSeal } from './request-state.ts';
import type { RoundEnd, SuspendedCalls } from './suspended-calls.ts';

/** What the bridge is made with. */
export interface BridgeParts extends BridgeResultParts {
  readonly manager: Pick<BackendManager, 'eraOf'>;
  readonly suspendedCalls: SuspendedCalls;
}

/**
 * Forwards requests of backends to clients, for the four combinations of client and backend era.
 *
 * modern x modern: `input_required` is forwarded with sealed state. legacy x modern: answered by real requests to the
 * client.
 * modern x legacy: the call is suspended between the client's requests. legacy x legacy: `client.request` is used
 * directly.
 */
export function createBridge(parts: BridgeParts, dispatch: Dispatch): Dispatch {
  return (call) => {
    if (call.parent !== undefined) return withAnswers(parts, dispatch, call); // for the call that made it, not for the client
    if (call.client.era === '2025-11-25') return forLegacyClient(parts, dispatch, call);
    const { parked } = call as Call & ResumingCall;
    if (parked !== undefined) return resumed(parts, call, parked);
    if (maySendRequests(parts, call)) return suspendable(parts, dispatch, call);
    return relayed(parts, dispatch, call);
  };
}

async function relayed(parts: BridgeParts, dispatch: Dispatch, call: Call): Promise<CallResult> {
  return modernResultOf(parts, call, await dispatch(call));
}

/** Only a legacy backend or a virtual entry sends requests during a call. */
function maySendRequests({ manager }: BridgeParts, call: Call): boolean {
  return call.target.run !== undefined || manager.eraOf(call.target.backend) === '2025-11-25';
}

/**
 * A client with capabilities gets a suspended call; for one without them the call ends with -32021 when it needs input.
 */
async function suspendable(parts: BridgeParts, dispatch: Dispatch, call: Call): Promise<CallResult> {
  const run = (client: ClientContext, signal: AbortSignal): Promise<CallResult> => {
    return withDeclaredOnly(client, (checked) => dispatch(callWith(call, { client: checked, signal })));
  };
  if (call.client.owner.capabilityClass === '') {
    const result = await withDeclaredOnly(call.client, (checked) => dispatch(callWith(call, { client: checked })));
    return modernResultOf(parts, call, result);
  }
  return afterRound(parts, call, await parts.suspendedCalls.run(call, run));
}

/**
 * Ends a call with -32021 when its backend sends a request that the client did not declare; the backend gets an error.
 */
async function withDeclaredOnly(
  client: ClientContext,
  run: (client: ClientContext) => Promise<CallResult>,
): Promise<CallResult> {
  let undeclared: ServerRequest | undefined;
  const result = await run({
    ...client,
    request: async (method, params, signal) => {
      const question = modernRequest({ method, params });
      if (client.request !== undefined && canAnswer(client.capabilities, question))
        return client.request(method, params, signal);
      undeclared ??= question;
      return { error: wireError(CODE.methodNotFound, `the client does not support ${method}`) };
    },
  });
  if (undeclared !== undefined) throw new CallError(missingCapability(undeclared));
  return result;
}

async function resumed(parts: BridgeParts, call: Call, handle: string): Promise<CallResult> {
  const end = parts.suspendedCalls.resume(handle, call, call.inputResponses);
  if (end === undefined) throw new CallError(staleState());
  return afterRound(parts, call, await end);
}

function afterRound(parts: BridgeParts, call: Call, end: RoundEnd): CallResult | Promise<CallResult> {
  if ('result' in end) return modernResultOf(parts, call, end.result);
  return inputRequiredResult(parts, call, end.questions, { parked: end.parked });
}

async function forLegacyClient(parts: BridgeParts, dispatch: Dispatch, call: Call): Promise<CallResult> {
  return withObjectContent(call, await withAnswers(parts, dispatch, call));
}

/** Sends the requests of a modern backend to a client that can receive requests during a call. */
async function withAnswers(parts: BridgeParts, dispatch: Dispatch, call: Call): Promise<CallResult> {
  const first = await dispatch(call);
  if (first.resultType !== 'input_required') return first;
  const end = await fulfil(first, {
    ask: call.client.request,
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
 * A legacy backend may require "open this URL first" by error -32042; a modern client gets it as a request. The retry
 * is a new call, because the backend stores its state itself.
 */
export function withUrlQuestions(parts: BridgeParts, dispatch: Dispatch): Dispatch {
  const asking = async (call: Call): Promise<CallResult> => {
    try {
      return await dispatch(call);
    } catch (thrown) {
      if (!(thrown instanceof BackendError)) throw thrown;
      if (thrown.code !== CODE.legacyUrlElicitationRequired || thrown.data === undefined) throw thrown;
      const questions = urlQuestions(decode(thrown.data));
      if (questions.size === 0) throw thrown;
      return inputRequiredResult(parts, call, questions, {});
    }
  };
  return (call) => {
    const isMixed = call.client.era === '2026-07-28' && parts.manager.eraOf(call.target.backend) !== '2026-07-28';
    return isMixed ? asking(call) : dispatch(call);
  };
}

function urlQuestions(data: JsonValue): ReadonlyMap<string, ServerRequest> {
  const elicitations = isObject(data) && Array.isArray(data.elicitations) ? (data.elicitations as JsonValue[]) : [];
  const questions = elicitations
    .filter(isObject)
    .map((params, index): [string, ServerRequest] => [
      `url${index + 1}`,
      modernRequest({ method: 'elicitation/create', params: encode({ ...params, mode: 'url' }) }),
    ]);
  return new Map(questions);
}

/** What making bridged results needs. */
export interface BridgeResultParts {
  readonly seal: StateSeal;
  readonly limits: Pick<Limits, 'rounds' | 'requestStateBytes'>;
}

/**
 * A result for a modern client. The backend's own state is sealed and bound to caller, target and arguments of the
 * call.
 */
export function modernResultOf(parts: BridgeResultParts, call: Call, result: CallResult): CallResult {
  const members = membersOf(result);
  if (result.resultType !== 'input_required') return withContent(call, result, members);
  const inner = members.string('requestState');
  return inputRequiredResult(parts, call, inputRequestsOf(members), inner === undefined ? {} : { inner });
}

/** Legacy servers may omit `content` in a tool result; modern clients rely on it. */
function withContent(call: Call, result: CallResult, members: RawMembers): CallResult {
  if (call.method !== 'tools/call' || result.resultType !== 'complete' || members.has('content')) return result;
  return new BytesResult(members.with('content', NO_CONTENT).toBytes());
}

/** The requests of a backend as an `input_required` result; the state for the next round is sealed in it. */
export function inputRequiredResult(
  parts: BridgeResultParts,
  call: Call,
  questions: ReadonlyMap<string, ServerRequest>,
  carried: Pick<RoundState, 'inner' | 'parked' | 'linkSent'>,
): CallResult {
  if (call.round >= parts.limits.rounds) {
    throw new CallError(
      wireError(CODE.internalError, `the backend asked for input more than ${parts.limits.rounds} times`),
    );
  }
  for (const question of questions.values()) {
    // A client must only get requests whose capability it declared (MCP 2026-07-28, input required).
    if (!canAnswer(call.client.capabilities, question)) throw new CallError(missingCapability(question));
  }
  const state = { callId: call.id, round: call.round + 1, backend: call.target.backend, ...carried };
  const sealed = parts.seal.seal(state, call.asked ?? call);
  if (sealed.length > parts.limits.requestStateBytes) {
    throw new CallError(wireError(CODE.internalError, 'the requestState of the backend is too large'));
  }
  return new BytesResult(inputRequired(questions, sealed));
}

/** -32021: the backend sent a request whose capability the client did not declare. */
export function missingCapability(question: ServerRequest) {
  const required = capabilityFor(question) ?? {};
  return wireError(
    CODE.missingCapability,
    'the backend needs input of a kind that the client did not declare',
    { requiredCapabilities: required },
    400,
  );
}

/**
 * Modern servers may send any value as `structuredContent`, but legacy clients accept objects only: the value is
 * wrapped like the listed output schema. Results of legacy servers are in the client's own revision and are kept.
 */
export function withObjectContent(call: Call, result: CallResult): CallResult {
  if (call.method !== 'tools/call' || isLegacyResult(result, call)) return result;
  const members = membersOf(result);
  const structured = members.get('structuredContent');
  if (structured === undefined || (structured[0] === OPEN_BRACE && !needsWrapping(call.target))) return result;
  const wrapped = RawObject.empty().with('result', structured);
  return new BytesResult(members.with('structuredContent', wrapped.toBytes()).toBytes());
}

/** Whether a result is in the client's own revision; a wrapper may have replaced it. */
function isLegacyResult(result: CallResult, { target }: Call): boolean {
  const era = result instanceof BytesResult ? result.era : undefined;
  return (era ?? target.era) === '2025-11-25';
}

const NO_CONTENT = Buffer.from('[]');
const OPEN_BRACE = 0x7b;
