import { hash, randomUUID } from 'node:crypto';
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

/** For what a person is asked. */
export interface Purpose {
  /** Address of the plugin: two that ask about one call do not take each other's answers. */
  readonly address: string;
  /** Uses up an answer of MCP 2026-07-28 by its id; `false` when it was used before: then the question is asked again. */
  readonly claim?: (id: string, call: Call) => boolean | Promise<boolean>;
}

/** Reason of a refusal for {@link Confirmation} `cannotAsk`; commands that only decide a call know it by this text. */
export const CANNOT_ASK = 'a person must agree to it first, and the client does not support elicitation';

/** Key of the question in `inputRequests`. */
const QUESTION = 'toolmgr.confirm';
const ANSWER_MS = 600_000;

/**
 * Asks the person behind a client whether a tool may run, by elicitation of either revision. Call it in `wrapDispatch` or in the `run` of a
 * virtual entry; with a call of 2026-07-28 it returns the question first and the answer in the next round. The gateway binds the answer to
 * caller, tool and arguments.
 */
export async function confirm(call: Call, message: string, purpose: Purpose): Promise<Confirmation> {
  if (!canElicit(call)) return 'cannotAsk';
  const params: JsonObject = { mode: 'form', message, requestedSchema: FORM };
  if (call.client.era === '2026-07-28') {
    const answered = isAnswered(call, purpose) ? answerOf(call) : undefined;
    const [id = '', shown] = call.backendState?.slice(prefixOf(purpose).length).split(' ') ?? [];
    // what the person was shown is what is done, also when plugins have changed the call since
    if (answered === undefined || shown !== digestOf(message)) return question(params, message, purpose);
    if (answered !== 'confirmed' || purpose.claim === undefined) return answered;
    return (await purpose.claim(id, call)) ? answered : question(params, message, purpose);
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

/** Whether this round brings the answer to a question of one purpose; a later round of the backend's own does not. */
export function isAnswered({ backendState }: Call, purpose: Purpose): boolean {
  return backendState?.startsWith(prefixOf(purpose)) === true;
}

/** The call without the question and its answer, for the backend. */
export function withoutAnswer(call: Call, purpose: Purpose): Call {
  return isAnswered(call, purpose) ? callWith(call, { backendState: undefined, inputResponses: undefined }) : call;
}

function digestOf(message: string): string {
  return hash('sha256', message, 'base64url');
}

function prefixOf({ address }: Purpose): string {
  return `${QUESTION} ${address} `;
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
function question(params: JsonObject, message: string, purpose: Purpose): CallResult {
  const inputRequests = { [QUESTION]: { method: 'elicitation/create', params } };
  const requestState = `${prefixOf(purpose)}${randomUUID()} ${digestOf(message)}`;
  return resultFromValue({ resultType: 'input_required', inputRequests, requestState });
}

function answerOf({ inputResponses }: Call): Confirmation | undefined {
  const raw = inputResponses === undefined ? undefined : RawObject.parse(inputResponses).get(QUESTION);
  return raw === undefined ? undefined : verdict(raw);
}

function verdict(raw: Buffer): 'confirmed' | 'declined' {
  const { action, content } = decodeObject(raw) ?? {};
  return action === 'accept' && isObject(content) && content.confirm === true ? 'confirmed' : 'declined';
}
