import { type Call, type CallResult, type JsonObject, resultFromValue, toolFailure } from '@toolmgr/core';
import { confirm, MAX_QUESTION, questionAbout } from '@toolmgr/plugins/kit/confirm';
import { type Answer, isProblem, PROBLEMS, type Problem } from '@toolmgr/plugins/kit/operations';
import { TIME_LIMITS_MS } from '../http/limits.ts';
import { mistakeProblem } from '../http/mistake.ts';
import type { OperationHost } from '../http/mount-operation.ts';
import { createRequestReader } from '../http/read-request.ts';
import { argumentsOf, type ManagerTool } from './tool-from-operation.ts';

const MAX_TEXT = 200_000; // characters of a streamed answer
const STREAM_MS = 5_000; // a stream without end is cut

/** Settings of the tools. */
export interface ToolSettings {
  readonly host: OperationHost;
  /** Destructive tools run without asking a person. */
  readonly withoutConfirmation: boolean;
}

/** Makes the function that runs the operation of a tool. */
export function toolRunner(tool: ManagerTool, settings: ToolSettings): (call: Call) => Promise<CallResult> {
  const read = createRequestReader(tool.operation);
  return async (call) => {
    const parts = read(tool.partsOf(call.arguments));
    if ('problem' in parts) return failure(parts);
    const isAsked = !settings.withoutConfirmation && tool.asks(call.arguments);
    if (isAsked) {
      const question = questionAbout(tool.operation.summary, call, argumentsOf(call.arguments));
      if (question === undefined) return toolFailure(TOO_LONG);
      const answer = await confirm(call, question, { address: 'manager' });
      if (answer === 'declined') return toolFailure('The person declined. Nothing was done.');
      if (answer === 'cannotAsk') return toolFailure(CANNOT_ASK);
      if (answer !== 'confirmed') return answer;
    }
    const { jobs, publish } = settings.host;
    const limitMs = TIME_LIMITS_MS[tool.operation.timeLimit ?? 'standard'] ?? STREAM_MS;
    const signal = AbortSignal.any([call.signal, settings.host.signal, AbortSignal.timeout(limitMs)]);
    const context = { signal, caller: call.caller.name ?? call.caller.subject, jobs, publish, isByAgent: !isAsked };
    try {
      const answer = await tool.operation.run({ ...parts, context } as never);
      return isProblem(answer) ? failure(answer) : success(answer);
    } catch (cause) {
      const mistake = mistakeProblem(cause);
      if (mistake === undefined) throw cause;
      return failure(mistake);
    }
  };
}

const CANNOT_ASK =
  'This tool needs the confirmation of a person, and the client does not support elicitation. Use the command line or the page of ' +
  'toolmgr instead, or start the manager with --mcp-without-confirmation.';

const TOO_LONG = `This call needs the confirmation of a person, and its arguments are longer than the ${MAX_QUESTION} characters that a person is shown. Use the command line or the page of toolmgr instead.`;

function failure({ problem, detail, errors = [] }: Problem): CallResult {
  const fields = errors.map((field) => `\n- ${field.path === '' ? '' : `${field.path}: `}${field.detail}`).join('');
  const text = errors.length > 1 ? `${PROBLEMS[problem].title}:${fields}` : `${PROBLEMS[problem].title}: ${detail}`;
  return toolFailure(text, { structuredContent: { code: problem, detail } });
}

async function success({ status, body, headers, stream }: Answer): Promise<CallResult> {
  if (stream !== undefined) return textResult(await collected(stream));
  const operation = headers?.location?.startsWith('/api/v1beta/operations/')
    ? headers.location.split('/').at(-1)
    : undefined;
  if (operation !== undefined) {
    return structured({ operation, detail: 'the work continues; get_operation shows its progress and outcome' });
  }
  if (body === undefined) return structured({ status: status === 204 ? 'done' : String(status) });
  return typeof body === 'string' ? textResult(body) : structured(body as JsonObject);
}

function structured(value: JsonObject | readonly unknown[]): CallResult {
  const object = (Array.isArray(value) ? { items: value } : value) as JsonObject;
  return resultFromValue({ content: [{ type: 'text', text: JSON.stringify(object) }], structuredContent: object });
}

function textResult(text: string): CallResult {
  return resultFromValue({ content: [{ type: 'text', text }] });
}

async function collected(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    if (text.length > MAX_TEXT) return `${text.slice(0, MAX_TEXT)}\n(the rest is cut)`;
  }
  return text;
}
