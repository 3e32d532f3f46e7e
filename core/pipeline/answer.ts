import type { CallMethod, Reply } from '../contract/call.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { recorderOf } from '../server/http/request-recorder.ts';
import type { Answer, McpRequest } from '../server/mcp-request.ts';
import { answerList, LISTS, type ListParts } from './list.ts';
import { type PipelineContext, performResolved } from './perform.ts';
import { type Resolved, type ResolveParts, resolveCall } from './resolve.ts';

/** All that answering needs, joined by assembly. */
export interface AnswerParts extends ListParts, ResolveParts {
  readonly context: PipelineContext;
  catalog(request: McpRequest): ReturnType<ListParts['catalog']>;
}

/** Answers one request that reaches the catalogue. Never rejects for what a backend or plugin did. */
export function answer(parts: AnswerParts, request: McpRequest): Promise<Answer> {
  const kind = LISTS.get(request.method);
  if (kind !== undefined) {
    return answerList(parts, request, kind).catch((cause: unknown) => failedList(parts, request, cause));
  }
  if (!CALLS.has(request.method)) return Promise.resolve(UNKNOWN_METHOD);
  return answerCall(parts, request);
}

/** Resolves and performs one call. */
export function answerCall(parts: AnswerParts, request: McpRequest): Promise<Reply> {
  const resolved = safelyResolved(parts, request);
  if ('error' in resolved) return Promise.resolve(resolved);
  if ('call' in resolved) recorderOf(request.inbound)?.becomes(resolved.call);
  return performResolved(parts.context, resolved);
}

/** Without a catalogue nothing can be called; that is the gateway's trouble, not the caller's. */
function safelyResolved(parts: AnswerParts, request: McpRequest): Resolved {
  try {
    return resolveCall(parts, request);
  } catch (cause) {
    parts.context.reportList(request, cause);
    return { error: wireError(CODE.internalError, 'the catalogue of this gateway could not be made') };
  }
}

const UNKNOWN_METHOD: Answer = { error: wireError(CODE.methodNotFound, 'method not found', undefined, 404) };

const CALLS: ReadonlySet<string> = new Set<CallMethod>([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
]);

function failedList(parts: AnswerParts, request: McpRequest, cause: unknown): Answer {
  parts.context.reportList(request, cause);
  return { error: wireError(CODE.internalError, 'the list could not be made', undefined, 200) };
}
