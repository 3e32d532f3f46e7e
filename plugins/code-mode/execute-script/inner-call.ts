import {
  type Call,
  type CallResult,
  type Core,
  decode,
  isObject,
  type RawJson,
  RawObject,
  type Reply,
  type ScriptAnswer,
} from '@toolmgr/core';
import type { Scope } from './scope.ts';
import type { UnknownNames } from './unknown-name.ts';

/** Largest result that is handed to a script: it has to fit into its memory more than once. */
const MAX_RESULT_BYTES = 4_194_304;

/** What a call from a script is made with. */
export interface InnerCallParts {
  readonly core: Pick<Core, 'perform'>;
  readonly scope: Scope;
  readonly unknown: UnknownNames;
  readonly parent: Call;
  readonly timeoutMs: number;
}

/**
 * Makes one tool call of a script, under the tool's own name: decided, limited and recorded like any call of the caller.
 * Only what the caller's lists show is reached. Arguments are not decoded here: a policy that reads them
 * does. Never rejects; an answer that is late is a TimeoutError, and the call is cancelled.
 */
export function callInside(
  { core, scope, unknown, parent, timeoutMs }: InnerCallParts,
  name: string,
  given: RawJson,
  signal: AbortSignal,
): Promise<ScriptAnswer> {
  const entry = scope.find(name);
  if (entry === undefined) return Promise.resolve(failed(unknown.tool(name)));
  return new Promise((resolve) => {
    const cancel = new AbortController();
    const end = (answer: ScriptAnswer): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(answer);
    };
    const onAbort = (): void => {
      cancel.abort(signal.reason);
      end(failed('the script has ended'));
    };
    const late = (): void => {
      cancel.abort(new Error('toolCallTimeout'));
      end({ name: 'TimeoutError', error: `tool "${name}" did not answer within ${timeoutMs} ms` });
    };
    const timer = setTimeout(late, timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();
    core
      .perform({ parent, name: entry.key, arguments: given, signal: cancel.signal, isChosen: true })
      .then(answerFrom)
      .then(end, () => end(failed('the call failed')));
  });
}

/** A refusal, an error and a tool's own failure are thrown in the script; a result becomes a plain value. */
export function answerFrom(reply: Reply): ScriptAnswer {
  if ('refusal' in reply) return failed(reply.refusal.reason);
  if ('error' in reply) return failed(reply.error.message);
  const { result } = reply;
  if (result.resultType !== 'complete') return failed(`the tool answered "${result.resultType}", which is no result`);
  if (result.bytes.length > MAX_RESULT_BYTES) {
    return failed(`the result of ${result.bytes.length} bytes is larger than a script can take (${MAX_RESULT_BYTES})`);
  }
  return result.isError ? failed(textOf(result) ?? 'the tool failed') : valueFrom(result);
}

/** Structured content, a lone `result` member unwrapped; else the first text; else null. */
function valueFrom(result: CallResult): ScriptAnswer {
  const structured = RawObject.parse(result.bytes).get('structuredContent');
  if (structured !== undefined && !structured.equals(NULL)) return { json: unwrapped(structured).toString('utf8') };
  const text = textOf(result);
  return text === undefined ? { json: 'null' } : { text };
}

function unwrapped(structured: RawJson): RawJson {
  if (structured[0] !== OPEN_BRACE) return structured;
  const members = RawObject.parse(structured);
  return members.size === 1 ? (members.get('result') ?? structured) : structured;
}

function textOf(result: CallResult): string | undefined {
  const content = RawObject.parse(result.bytes).get('content');
  const items = content === undefined ? [] : decode(content);
  if (!Array.isArray(items)) return undefined;
  const found = items.find((item) => isObject(item) && item.type === 'text' && typeof item.text === 'string');
  return isObject(found) ? (found.text as string) : undefined;
}

function failed(error: string): ScriptAnswer {
  return { error, name: 'ToolError' };
}

const OPEN_BRACE = 0x7b;
const NULL = Buffer.from('null');
