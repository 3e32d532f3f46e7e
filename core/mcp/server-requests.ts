import type { JsonObject, RawJson } from '../contract/json.ts';
import { decodeObject, isObject } from '../json/json-value.ts';

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

/** Whether the params of an elicitation open a URL (MCP elicitation, `mode`). */
export function isUrlMode(params: RawJson): boolean {
  return decodeObject(params)?.mode === 'url';
}
