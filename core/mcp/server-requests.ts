import type { ClientResponse } from '../contract/client-context.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import { decodeObject, encode, isObject, RawObject } from '../json/raw-json.ts';

/** The requests that a server may send to a client (MCP: elicitation, sampling, roots). */
export const SERVER_REQUEST_METHODS = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const;

/** One request of a server to a client. */
export interface ServerRequest {
  readonly method: string;
  readonly params: RawJson;
}

/** The capability that a client must have declared for this request. */
export function capabilityFor(question: ServerRequest): JsonObject | undefined {
  if (question.method === 'sampling/createMessage') return { sampling: {} };
  if (question.method === 'roots/list') return { roots: {} };
  if (question.method !== 'elicitation/create') return undefined;
  return isUrlMode(question.params) ? { elicitation: { url: {} } } : { elicitation: {} };
}

/**
 * Whether declared capabilities allow a server request. `elicitation: {}` means form mode only; url mode must be
 * declared.
 */
export function canAnswer(declared: JsonObject, question: ServerRequest): boolean {
  if (question.method === 'sampling/createMessage') return isObject(declared.sampling);
  if (question.method === 'roots/list') return isObject(declared.roots);
  if (question.method !== 'elicitation/create') return false;
  const elicitation = declared.elicitation;
  if (!isObject(elicitation)) return false;
  if (isUrlMode(question.params)) return isObject(elicitation.url);
  return isObject(elicitation.form) || !isObject(elicitation.url);
}

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

function isUrlMode(params: RawJson): boolean {
  return decodeObject(params)?.mode === 'url';
}

const EMPTY = Buffer.from('{}');
