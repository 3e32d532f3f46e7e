import {
  type Call,
  CallRefused,
  type CallResult,
  type Core,
  isObject,
  type JsonObject,
  present,
  resultFromValue,
  type Sandbox,
  type ScriptLimits,
  type ScriptOutcome,
  toolFailure,
} from '@toolmgr/core';
import type { CodeModeConfig } from './config.ts';
import { callFromScript, type MadeCalls } from './inner-call.ts';
import type { Scope } from './scope.ts';
import { TOOL_NAME } from './tool-definition.ts';
import { createUnknownNames, type UnknownNames } from './unknown-name.ts';

/** Parsing a script cannot be interrupted: 1 MiB takes about 50 ms of its thread. */
const MAX_SCRIPT_BYTES = 1_048_576;

/** What {@link runTool} needs besides the call. */
export interface RunContext {
  readonly core: Core;
  readonly config: CodeModeConfig;
  scope(call: Call): Promise<Scope>;
}

/**
 * Answers a call of the tool. A script that fails is a result with `isError`. Rejects only when the call was cancelled.
 * Source: vmcp spec §2 codeMode, §7.7.
 */
export async function runTool({ core, config, scope: scopeFor }: RunContext, call: Call): Promise<CallResult> {
  const input = parseInput(call.arguments);
  if ('problem' in input) return toolFailure(input.problem);
  const scope = await scopeFor(call);
  const startedMs = core.now();
  const unknown = createUnknownNames(scope);
  const made: MadeCalls = { count: 0 };
  const parts = { core, scope, unknown, parent: call, timeoutMs: config.toolCallTimeout, made };
  const sandbox: Sandbox = core.slots.sandboxes.get(config.sandbox);
  const outcome = await sandbox.run(
    {
      ...input,
      owner: call.caller.key,
      functions: scope.functions.map(({ tool, flat, member }) => ({
        tool,
        ...present({ flat, member }),
      })),
      call: (name, given, signal) => callFromScript(parts, name, given, signal),
    },
    limitsFrom(config),
    call.signal,
  );
  // the text of a script is not logged: it may contain secrets
  core.log.debug('a script ended', {
    call: call.id,
    caller: call.caller.subject,
    scriptChars: input.script.length,
    calls: outcome.calls,
    outcome: 'failure' in outcome ? outcome.failure : 'ok',
    durationMs: core.now() - startedMs,
  });
  call.signal.throwIfAborted();
  // A client repeats the call with another token: only when nothing happened yet that it would repeat.
  const { lacking } = made;
  if ('failure' in outcome && lacking !== undefined && made.count === 0 && outcome.message.includes(lacking.reason)) {
    throw new CallRefused(lacking);
  }
  return resultFrom(outcome, unknown);
}

type ScriptInput = { readonly script: string; readonly data: JsonObject };

function parseInput({ script, data, ...others }: JsonObject): ScriptInput | { readonly problem: string } {
  const [other] = Object.keys(others);
  if (other !== undefined) return { problem: `${TOOL_NAME} takes 'script' and 'data' only, got '${other}'` };
  if (typeof script !== 'string' || script.trim() === '') {
    return { problem: `${TOOL_NAME} needs a non-empty string 'script'` };
  }
  if (Buffer.byteLength(script) > MAX_SCRIPT_BYTES) {
    return { problem: `'script' is larger than ${MAX_SCRIPT_BYTES} bytes: pass values in 'data'` };
  }
  if (data === undefined || data === null) return { script, data: {} };
  return isObject(data) ? { script, data } : { problem: "'data' must be an object" };
}

function limitsFrom(config: CodeModeConfig): ScriptLimits {
  return {
    steps: config.stepLimit,
    wallClockMs: config.scriptTimeout,
    memoryBytes: config.memoryBytes,
    resultBytes: config.resultBytes,
    logBytes: config.logBytes,
    concurrency: config.parallelMaxConcurrency,
    calls: config.maxToolCalls,
  };
}

/** The value as JSON text, also as structured content when it is an object; then the logs. */
function resultFrom(outcome: ScriptOutcome, unknown: UnknownNames): CallResult {
  const logs = outcome.logs.length === 0 ? [] : [textBlock(`Script logs:\n${outcome.logs.join('\n')}`)];
  if ('failure' in outcome) {
    const { failure, message } = outcome;
    const hint = failure === 'error' ? unknown.afterError(message) : '';
    const content = [textBlock(`script execution failed: ${message}${hint}`), ...logs];
    return resultFromValue({ content, isError: true });
  }
  const value: unknown = JSON.parse(outcome.json);
  const content = [textBlock(outcome.json), ...logs];
  return resultFromValue({ content, ...(isObject(value) ? { structuredContent: value } : {}) });
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}
