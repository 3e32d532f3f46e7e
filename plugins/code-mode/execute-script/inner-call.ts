import {
  type Call,
  type CallResult,
  type Core,
  decode,
  isObject,
  type RawJson,
  RawObject,
  type Refusal,
  type Reply,
  type ScriptAnswer,
} from '@toolmgr/core';
import { asksForScopes } from '@toolmgr/plugins/kit/credentials';
import type { Scope } from './scope.ts';
import type { UnknownNames } from './unknown-name.ts';

/** Largest result that a script gets: its memory must hold several copies of it. */
const MAX_RESULT_BYTES = 4_194_304;

/** What {@link callFromScript} needs besides the call. */
export interface InnerCallContext {
  readonly core: Pick<Core, 'perform'>;
  readonly scope: Scope;
  readonly unknown: UnknownNames;
  readonly parent: Call;
  readonly timeoutMs: number;
  /** What happened to the calls of the script. */
  readonly made: MadeCalls;
}

/** Filled while a script runs. */
export interface MadeCalls {
  /** Without those that lacked a scope. */
  count: number;
  /** The first refusal that asks for scopes. */
  lacking?: Refusal;
}

/**
 * Makes one tool call of a script under the tool's own name: authorized, rate limited and recorded like any call of the
 * caller. Only tools in the caller's list can be called. Arguments stay encoded unless a policy reads them. Never rejects;
 * after the timeout the call is cancelled and the answer is a TimeoutError.
 */
export function callFromScript(
  { core, scope, unknown, parent, timeoutMs, made }: InnerCallContext,
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
    const onTimeout = (): void => {
      cancel.abort(new Error('toolCallTimeout'));
      end({ name: 'TimeoutError', error: `tool "${name}" did not answer within ${timeoutMs} ms` });
    };
    const timer = setTimeout(onTimeout, timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();
    made.count += 1;
    core
      .perform({ parent, name: entry.key, arguments: given, signal: cancel.signal, isChosen: true })
      .then((reply) => {
        noteRefusal(made, reply);
        return answerFrom(reply);
      })
      .then(end, () => end(failed('the call failed')));
  });
}

function noteRefusal(made: MadeCalls, reply: Reply): void {
  if (!('refusal' in reply) || !asksForScopes(reply.refusal)) return;
  made.count -= 1;
  made.lacking ??= reply.refusal;
}

/** Refusals, errors and failed tools are thrown in the script; a result becomes a plain value. */
export function answerFrom(reply: Reply): ScriptAnswer {
  if ('refusal' in reply) return failed(reply.refusal.reason);
  if ('error' in reply) return failed(reply.error.message);
  const { result } = reply;
  if (result.resultType !== 'complete') return failed(`unsupported result type "${result.resultType}"`);
  if (result.bytes.length > MAX_RESULT_BYTES) {
    return failed(
      `the result of ${result.bytes.length} bytes is larger than the limit of a script (${MAX_RESULT_BYTES})`,
    );
  }
  return result.isError ? failed(textOf(result) ?? 'the tool failed') : valueFrom(result);
}

/** Structured content (a single `result` member is unwrapped), else the first text, else null. */
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
