import {
  type Call,
  type CallResult,
  decodeObject,
  encode,
  isObject,
  type JsonObject,
  RawObject,
  resultFromValue,
  toolFailure,
} from '@toolmgr/core';

/** How a person answered; a result when the client has to ask first, or cannot ask. */
export type Confirmation = 'confirmed' | 'declined' | CallResult;

const QUESTION = 'confirm';
const ANSWER_MS = 600_000;

/** Asks the person behind a client whether a tool may run, by elicitation of either revision. */
export async function confirm(call: Call, message: string): Promise<Confirmation> {
  if (!canElicit(call)) return toolFailure(CANNOT_ASK);
  const params: JsonObject = { mode: 'form', message, requestedSchema: FORM };
  if (call.client.era === '2026-07-28') {
    const answered = call.backendState === QUESTION ? answerOf(call) : undefined;
    return answered ?? question(params);
  }
  const { request } = call.client;
  if (request === undefined) return toolFailure(CANNOT_ASK);
  const answer = await request(
    'elicitation/create',
    encode(params),
    AbortSignal.any([call.signal, AbortSignal.timeout(ANSWER_MS)]),
  );
  return 'error' in answer ? toolFailure(`the confirmation failed: ${answer.error.message}`) : verdict(answer.result);
}

const CANNOT_ASK =
  'This tool needs the confirmation of a person, and the client does not support elicitation. Use the command line or the page of ' +
  'toolmgr instead, or start the manager with --mcp-without-confirmation.';

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
