import {
  type Call,
  CallError,
  decodeObject,
  type Elicited,
  encode,
  isObject,
  type JsonObject,
  type RawJson,
  RawObject,
} from '@toolmgr/core';
import type { WorkflowStep } from './compile-step.ts';
import { DeadlineExceeded, withDeadline } from './deadline.ts';
import { MAX_ANSWER_BYTES, MAX_DEPTH } from './limits.ts';
import { compileSchema, depthOf, type SchemaCheck } from './schema-check.ts';
import { StepFailure, Suspended } from './step-failure.ts';
import type { PendingQuestion, WorkflowState } from './workflow-state.ts';

/** An elicitation form: the message, and the JSON Schema of the answer. */
export interface Form {
  readonly message: string;
  readonly schema: JsonObject;
}

/**
 * Gets the answer to a step's elicitation: from this request, from the client during the call, or from a later request.
 * @throws StepFailure when the client does not support elicitation or the answer is invalid; Suspended when a later request
 * brings the answer
 */
export async function elicit(
  form: Form,
  step: WorkflowStep,
  call: Call,
  state: WorkflowState,
  signal: AbortSignal,
  nowMs: number,
): Promise<Elicited> {
  const answered = state.answers[step.id];
  if (answered !== undefined) return validated(answered, form.schema);
  requireForms(call, step);
  const { timeoutMs } = step.policy;
  if (isAnsweredByRetry(call)) {
    state.questions[step.id] = { ...form, untilMs: nowMs + timeoutMs };
    throw new Suspended();
  }
  return validated(await askDuringCall(form, call, signal, timeoutMs), form.schema);
}

/** Whether the client retries the call with the answers (MCP 2026-07-28) instead of answering during the call. */
function isAnsweredByRetry({ client, parent }: Call): boolean {
  return client.era === '2026-07-28' && parent === undefined;
}

/** MCP: a server must not send elicitation requests to a client that did not declare the capability. */
function requireForms(call: Call, { policy }: WorkflowStep): void {
  const { elicitation } = call.client.capabilities;
  if (isObject(elicitation) && (isObject(elicitation.form) || !isObject(elicitation.url))) return;
  if (isAnsweredByRetry(call) && policy.action !== 'continue') throw new CallError(MISSING_CAPABILITY);
  throw new StepFailure('the client did not declare elicitation');
}

const MISSING_CAPABILITY = {
  code: -32021, // MCP 2026-07-28: missing required client capability
  message: 'the tool needs elicitation, which the client did not declare',
  data: encode({ requiredCapabilities: { elicitation: {} } }),
  status: 400,
};

async function askDuringCall(form: Form, { client }: Call, signal: AbortSignal, timeoutMs: number): Promise<Elicited> {
  const { request } = client;
  if (request === undefined) throw new StepFailure('the client does not accept requests during a call');
  try {
    const answer = await withDeadline(signal, timeoutMs, (signalWithDeadline) =>
      request('elicitation/create', paramsOf(form), signalWithDeadline),
    );
    if ('error' in answer) throw new StepFailure(`the client did not answer: ${answer.error.message}`);
    return answerFrom(answer.result);
  } catch (cause) {
    if (cause instanceof DeadlineExceeded) return { action: 'timeout' };
    throw cause;
  }
}

function paramsOf({ message, schema }: Form): RawJson {
  return encode({ mode: 'form', message, requestedSchema: schema });
}

/** The `input_required` result with all pending questions. The gateway seals `requestState` before it is sent. */
export function questionsResult(
  questions: Readonly<Record<string, PendingQuestion>>,
  requestState: string,
): JsonObject {
  const inputRequests = Object.entries(questions).map(([id, { message, schema }]) => [
    id,
    { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: schema } },
  ]);
  return { resultType: 'input_required', inputRequests: Object.fromEntries(inputRequests), requestState };
}

/**
 * Stores the client's answers to the pending questions. A late answer counts as a timeout; a question without an answer is
 * asked again.
 * @throws StepFailure for an invalid answer
 */
export function takeAnswers(state: WorkflowState, responses: RawJson | undefined, nowMs: number): void {
  const given = responses === undefined ? undefined : RawObject.parse(responses);
  for (const [id, { untilMs }] of Object.entries(state.questions)) {
    delete state.questions[id];
    const raw = given?.get(id);
    if (nowMs > untilMs) state.answers[id] = { action: 'timeout' };
    else if (raw !== undefined) state.answers[id] = answerFrom(raw);
  }
}

/** Checks size and action of an answer; the step checks its content against the form. */
function answerFrom(raw: RawJson): Elicited {
  if (raw.length > MAX_ANSWER_BYTES) throw new StepFailure(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
  const answer = decodeObject(raw);
  const action = answer?.action;
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') throw new StepFailure('the answer is neither accept, decline nor cancel');
  const { content = {} } = answer ?? {};
  if (!isObject(content)) throw new StepFailure('the content of the answer is not an object');
  if (depthOf(content, MAX_DEPTH) > MAX_DEPTH)
    throw new StepFailure(`the answer is nested more than ${MAX_DEPTH} deep`);
  return { action, content };
}

function validated(answer: Elicited, schema: JsonObject): Elicited {
  if (answer.action !== 'accept') return answer;
  const problem = checkOf(schema)(answer.content ?? {});
  if (problem !== undefined) throw new StepFailure(`the answer does not match the form: ${problem}`);
  return answer;
}

/** Compiled once per form: a step type passes the same schema object in every run. */
const checks = new WeakMap<JsonObject, SchemaCheck>();

function checkOf(schema: JsonObject): SchemaCheck {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const compiled = compileSchema(schema);
  const check = 'check' in compiled ? compiled.check : () => `the form ${compiled.problem}`;
  checks.set(schema, check);
  return check;
}
