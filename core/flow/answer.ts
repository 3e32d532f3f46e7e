import type { CallMethod, Reply } from '../contract/call.ts';
import { CODE, wireError } from '../protocol/errors.ts';
import { visitOf } from '../protocol/http/visit.ts';
import type { Answer, Intent } from '../protocol/intent.ts';
import { answerList, LISTS, type ListParts } from './list.ts';
import { type Journey, performResolved } from './perform.ts';
import { type Resolved, type ResolveParts, resolveCall } from './resolve.ts';

/** All that answering needs, joined by assembly. */
export interface AnswerParts extends ListParts, ResolveParts {
  readonly journey: Journey;
  catalog(intent: Intent): ReturnType<ListParts['catalog']>;
}

/** Answers one request that reaches the catalogue. Never rejects for what a backend or plugin did. */
export function answer(parts: AnswerParts, intent: Intent): Promise<Answer> {
  const kind = LISTS.get(intent.method);
  if (kind !== undefined) {
    return answerList(parts, intent, kind).catch((cause: unknown) => failedList(parts, intent, cause));
  }
  if (!CALLS.has(intent.method)) return Promise.resolve(UNKNOWN_METHOD);
  return answerCall(parts, intent);
}

/** Resolves and performs one call. */
export function answerCall(parts: AnswerParts, intent: Intent): Promise<Reply> {
  const resolved = safelyResolved(parts, intent);
  if ('error' in resolved) return Promise.resolve(resolved);
  if ('call' in resolved) visitOf(intent.inbound)?.becomes(resolved.call);
  return performResolved(parts.journey, resolved);
}

/** Without a catalogue nothing can be called; that is the gateway's trouble, not the caller's. */
function safelyResolved(parts: AnswerParts, intent: Intent): Resolved {
  try {
    return resolveCall(parts, intent);
  } catch (cause) {
    parts.journey.reportList(intent, cause);
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

function failedList(parts: AnswerParts, intent: Intent, cause: unknown): Answer {
  parts.journey.reportList(intent, cause);
  return { error: wireError(CODE.internalError, 'the list could not be made', undefined, 200) };
}
