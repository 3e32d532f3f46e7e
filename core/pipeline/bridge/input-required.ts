import { randomUUID } from 'node:crypto';
import type { CallResult } from '../../contract/call.ts';
import type { ClientRequester, ClientResponse } from '../../contract/client-context.ts';
import type { RawJson } from '../../contract/json.ts';
import { encode } from '../../json/json-value.ts';
import { RawObject } from '../../json/raw-json.ts';
import { membersOf } from '../../mcp/envelope.ts';
import { isUrlMode, type ServerRequest } from '../../mcp/server-requests.ts';

/** The requests of an `input_required` result, by key. @throws RawJsonError when it is malformed */
export function inputRequestsOf(result: RawObject): ReadonlyMap<string, ServerRequest> {
  const questions = new Map<string, ServerRequest>();
  const requests = result.object('inputRequests');
  if (requests === undefined) return questions;
  for (const key of requests.keys()) {
    const request = requests.object(key);
    const method = request?.string('method');
    if (request === undefined || method === undefined) continue;
    questions.set(key, { method, params: request.get('params') ?? EMPTY });
  }
  return questions;
}

/** An `input_required` result with requests and sealed state. */
export function inputRequired(questions: ReadonlyMap<string, ServerRequest>, requestState: string): RawJson {
  const requests = RawObject.of(
    Array.from(questions, ([key, { method, params }]): [string, RawJson] => [
      key,
      RawObject.empty().with('method', encode(method)).with('params', params).toBytes(),
    ]),
  );
  return RawObject.empty()
    .with('resultType', encode('input_required'))
    .with('inputRequests', requests.toBytes())
    .with('requestState', encode(requestState))
    .toBytes();
}

/** Responses as the raw `inputResponses` object: key to bare result. */
export function inputResponses(answers: ReadonlyMap<string, RawJson>): RawJson {
  return RawObject.of(answers).toBytes();
}

/** A client's response for one key of its `inputResponses`; `undefined` when it is missing or not an object. */
export function inputResponseFor(responses: RawObject | undefined, key: string): ClientResponse | undefined {
  const raw = responses?.get(key);
  return raw === undefined || raw[0] !== 0x7b ? undefined : { result: raw };
}

/** Legacy url-mode elicitation needs an `elicitationId`; modern has none. */
export function withElicitationId(question: ServerRequest, id: string): ServerRequest {
  if (question.method !== 'elicitation/create' || !isUrlMode(question.params)) return question;
  const params = RawObject.parse(question.params);
  return params.has('elicitationId')
    ? question
    : { ...question, params: params.with('elicitationId', encode(id)).toBytes() };
}

/** The modern form of a legacy request: without per-hop `_meta` and `elicitationId`. */
export function modernRequest(question: ServerRequest): ServerRequest {
  const params = RawObject.parse(question.params).without('_meta', 'elicitationId', 'task');
  return { method: question.method, params: params.toBytes() };
}

const EMPTY = Buffer.from('{}');

/** Why the requests of a modern backend could not be answered. The sentence is for the client. */
export interface Unanswered {
  readonly unanswered: string;
}

/** What one round needs: how to send requests to the client, and how to continue with the responses. */
export interface Fulfilment {
  readonly ask: ClientRequester | undefined;
  readonly maxRounds: number;
  readonly signal: AbortSignal;
  /** Sends the call again with the responses and the backend's own state, unchanged. */
  again(responses: RawJson | undefined, backendState: string | undefined, round: number): Promise<CallResult>;
}

/**
 * Legacy client, modern backend: sends the requests of `input_required` results to the client as real requests, and
 * calls again with the responses, until the result is complete.
 *
 * Fails as a value: the client cannot receive requests, it answers with an error, or more than `maxRounds` rounds.
 */
export async function fulfil(first: CallResult, how: Fulfilment): Promise<CallResult | Unanswered> {
  let result = first;
  for (let round = 2; result.resultType === 'input_required'; round++) {
    if (round > how.maxRounds) return { unanswered: `the backend asked for input more than ${how.maxRounds} times` };
    const members = membersOf(result);
    const questions = inputRequestsOf(members);
    const answers = await askAll(questions, how);
    if ('unanswered' in answers) return answers;
    const responses = questions.size === 0 ? undefined : inputResponses(answers);
    result = await how.again(responses, members.string('requestState'), round);
  }
  return result;
}

async function askAll(
  questions: ReadonlyMap<string, ServerRequest>,
  { ask, signal }: Fulfilment,
): Promise<ReadonlyMap<string, RawJson> | Unanswered> {
  const answers = new Map<string, RawJson>();
  if (questions.size === 0) return answers;
  if (questions.size > MAX_QUESTIONS)
    return { unanswered: `the backend sent more than ${MAX_QUESTIONS} requests at once` };
  if (ask === undefined) return { unanswered: 'the backend needs input, but this client cannot receive requests' };
  const pairs = await Promise.all([...questions].map(([key, question]) => askOne(ask, key, question, signal)));
  for (const [key, answer] of pairs) {
    if ('error' in answer)
      return { unanswered: `the client did not answer the backend's request: ${answer.error.message}` };
    answers.set(key, answer.result);
  }
  return answers;
}

async function askOne(
  ask: ClientRequester,
  key: string,
  question: ServerRequest,
  signal: AbortSignal,
): Promise<[string, ClientResponse]> {
  const { method, params } = withElicitationId(question, randomUUID());
  return [key, await ask(method, params, signal)];
}

const MAX_QUESTIONS = 16; // one user answers them
