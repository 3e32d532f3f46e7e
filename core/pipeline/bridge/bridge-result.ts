import { needsWrapping } from '../../catalog/entry-definition.ts';
import type { Call, CallResult } from '../../contract/call.ts';
import type { RawMembers } from '../../contract/json.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
import { BytesResult, membersOf } from '../../mcp/result.ts';
import { canAnswer, capabilityFor, type ServerRequest } from '../../mcp/server-requests.ts';
import { CallError } from '../wire-faults.ts';
import { inputRequestsOf, inputRequired } from './input-required.ts';
import type { RoundState, StateSeal } from './request-state.ts';

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
