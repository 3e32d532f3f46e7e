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
  type WireError,
} from '@toolmgr/core';
import type { WorkflowStep } from './compile-step.ts';
import { TimeOver, withDeadline } from './deadline.ts';
import { MAX_ANSWER_BYTES, MAX_DEPTH } from './limits.ts';
import { compileSchema, depthOf, type SchemaCheck } from './schema-check.ts';
import type { Question, WorkflowState } from './state.ts';
import { StepFailure, Suspended } from './step-failure.ts';

/** A form as a step gives it. */
export interface Form {
  readonly message: string;
  readonly schema: JsonObject;
}

/**
 * Gets the answer to a step's question: the one that came with this request, or by asking now, or with a later request.
 * @throws StepFailure when the client cannot be asked or answered wrongly; Suspended when the answer is to come later
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
  if (answered !== undefined) return fitting(answered, form.schema);
  requireForms(call, step);
  const { timeoutMs } = step.policy;
  if (comesBack(call)) {
    state.questions[step.id] = { ...form, untilMs: nowMs + timeoutMs };
    throw new Suspended();
  }
  return fitting(await askNow(form, call, signal, timeoutMs), form.schema);
}

/** Whether the client asks again with the answers (MCP 2026-07-28) instead of answering in the middle of the call. */
function comesBack({ client, parent }: Call): boolean {
  return client.era === '2026-07-28' && parent === undefined;
}

/** A client must never be asked for what it did not declare. */
function requireForms(call: Call, { policy }: WorkflowStep): void {
  const { elicitation } = call.client.capabilities;
  if (isObject(elicitation) && (isObject(elicitation.form) || !isObject(elicitation.url))) return;
  if (comesBack(call) && policy.action !== 'continue') throw new CallError(MISSING_CAPABILITY);
  throw new StepFailure('the client cannot be asked: it did not declare elicitation');
}

const MISSING_CAPABILITY: WireError = {
  code: -32021, // MCP 2026-07-28: missing required client capability
  message: 'the tool asks its user, and the client did not declare elicitation',
  data: encode({ requiredCapabilities: { elicitation: {} } }),
  status: 400,
};

async function askNow(form: Form, { client }: Call, signal: AbortSignal, timeoutMs: number): Promise<Elicited> {
  const { ask } = client;
  if (ask === undefined) throw new StepFailure('the client cannot be asked in the middle of a call');
  try {
    const answer = await withDeadline(signal, timeoutMs, (until) => ask('elicitation/create', paramsOf(form), until));
    if ('error' in answer) throw new StepFailure(`the client did not answer: ${answer.error.message}`);
    return answerFrom(answer.result);
  } catch (cause) {
    if (cause instanceof TimeOver) return { action: 'timeout' };
    throw cause;
  }
}

function paramsOf({ message, schema }: Form): RawJson {
  return encode({ mode: 'form', message, requestedSchema: schema });
}

/** The `input_required` result that puts the waiting questions to the client; its state is sealed on the way. */
export function questionsResult(questions: Readonly<Record<string, Question>>, requestState: string): JsonObject {
  const inputRequests = Object.entries(questions).map(([id, { message, schema }]) => [
    id,
    { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: schema } },
  ]);
  return { resultType: 'input_required', inputRequests: Object.fromEntries(inputRequests), requestState };
}

/**
 * Takes the client's answers to the questions that waited. One that came too late counts as none that came in time; one
 * that is missing is asked again.
 * @throws StepFailure for an answer that is none
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

/** One answer: bounded, and of a known kind. What is in the form is checked by the step. */
function answerFrom(raw: RawJson): Elicited {
  if (raw.length > MAX_ANSWER_BYTES) throw new StepFailure(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
  const answer = decodeObject(raw);
  const action = answer?.action;
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') throw new StepFailure('the answer is neither accept, decline nor cancel');
  const { content = {} } = answer ?? {};
  if (!isObject(content)) throw new StepFailure('the content of the answer is no object');
  if (depthOf(content, MAX_DEPTH) > MAX_DEPTH)
    throw new StepFailure(`the answer is nested more than ${MAX_DEPTH} deep`);
  return { action, content };
}

function fitting(answer: Elicited, schema: JsonObject): Elicited {
  if (answer.action !== 'accept') return answer;
  const problem = checkOf(schema)(answer.content ?? {});
  if (problem !== undefined) throw new StepFailure(`the answer does not fit the form: ${problem}`);
  return answer;
}

/** One per form: step types hand over the same object each time. */
const checks = new WeakMap<JsonObject, SchemaCheck>();

function checkOf(schema: JsonObject): SchemaCheck {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const compiled = compileSchema(schema);
  const check = 'check' in compiled ? compiled.check : () => `the form ${compiled.problem}`;
  checks.set(schema, check);
  return check;
}
