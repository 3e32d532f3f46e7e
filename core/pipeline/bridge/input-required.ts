import type { ClientResponse } from '../../contract/client-context.ts';
import type { RawJson } from '../../contract/json.ts';
import { encode } from '../../json/json-value.ts';
import { RawObject } from '../../json/raw-json.ts';
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
