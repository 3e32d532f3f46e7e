import {
  type Call,
  type CallResult,
  callWith,
  decodeObject,
  encode,
  isObject,
  type JsonObject,
  RawObject,
  resultFromValue,
  toolFailure,
} from '@toolmgr/core';

/**
 * How a person answered. `cannotAsk`: the client does not support forms. A result is what the call must return: a question that the client
 * asks before it sends the call again, or why the client did not answer.
 */
export type Confirmation = 'confirmed' | 'declined' | 'cannotAsk' | CallResult;

/** Key of the question in `inputRequests`, and the state of a call that waits for its answer. */
const QUESTION = 'toolmgr.confirm';
const ANSWER_MS = 600_000;

/**
 * Asks the person behind a client whether a tool may run, by elicitation of either revision. Call it in `wrapDispatch` or in the `run` of a
 * virtual entry; with a call of 2026-07-28 it returns the question first and the answer in the next round.
 */
export async function confirm(call: Call, message: string): Promise<Confirmation> {
  if (!canElicit(call)) return 'cannotAsk';
  const params: JsonObject = { mode: 'form', message, requestedSchema: FORM };
  if (call.client.era === '2026-07-28') {
    const answered = isAnswered(call) ? answerOf(call) : undefined;
    return answered ?? question(params);
  }
  const { request } = call.client;
  if (request === undefined) return 'cannotAsk';
  const answer = await request(
    'elicitation/create',
    encode(params),
    AbortSignal.any([call.signal, AbortSignal.timeout(ANSWER_MS)]),
  );
  return 'error' in answer ? toolFailure(`the confirmation failed: ${answer.error.message}`) : verdict(answer.result);
}

/** Whether this round brings the answer of {@link confirm}; a later round of the backend's own does not. */
export function isAnswered({ backendState }: Call): boolean {
  return backendState === QUESTION;
}

/** The call without the question and its answer, for the backend. */
export function withoutAnswer(call: Call): Call {
  return isAnswered(call) ? callWith(call, { backendState: undefined, inputResponses: undefined }) : call;
}

const FORM: JsonObject = {
  type: 'object',
  properties: { confirm: { type: 'boolean', title: 'Do it', description: 'Yes, do it', default: false } },
  required: ['confirm'],
};

/** MCP: forms are supported when `elicitation` is declared without modes, or with `form`. */
function canElicit({ client: { capabilities } }: Call): boolean {
  const { elicitation } = capabilities;
  return isObject(elicitation) && (isObject(elicitation.form) || !isObject(elicitation.url));
}

/** The client asks and sends the call again with the answer. The core binds the state to the call. */
function question(params: JsonObject): CallResult {
  const inputRequests = { [QUESTION]: { method: 'elicitation/create', params } };
  return resultFromValue({ resultType: 'input_required', inputRequests, requestState: QUESTION });
}

function answerOf({ inputResponses }: Call): Confirmation | undefined {
  const raw = inputResponses === undefined ? undefined : RawObject.parse(inputResponses).get(QUESTION);
  return raw === undefined ? undefined : verdict(raw);
}

function verdict(raw: Buffer): 'confirmed' | 'declined' {
  const { action, content } = decodeObject(raw) ?? {};
  return action === 'accept' && isObject(content) && content.confirm === true ? 'confirmed' : 'declined';
}
