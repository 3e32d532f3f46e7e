import {
  type Call,
  type CallResult,
  type Core,
  isObject,
  type JsonObject,
  resultFromValue,
  type Sandbox,
  type ScriptLimits,
  type ScriptOutcome,
  toolFailure,
} from '@toolmgr/core';
import type { CodeModeConfig } from './config.ts';
import { callInside } from './inner-call.ts';
import type { Scope } from './scope.ts';
import { TOOL_NAME } from './tool-definition.ts';
import { createUnknownNames, type UnknownNames } from './unknown-name.ts';

/** A script is read in one go, without a look at the clock: 1 MiB takes some 50 ms of its thread. */
const MAX_SCRIPT_BYTES = 1_048_576;

/** What running the tool needs. */
export interface RunParts {
  readonly core: Core;
  readonly config: CodeModeConfig;
  scope(call: Call): Promise<Scope>;
}

/**
 * Answers a call of the tool. What a script does wrong is a result with `isError`; only a call that nobody waits for
 * any more ends in a rejection.
 * Source: vmcp spec §2 codeMode, §7.7.
 */
export async function runTool({ core, config, scope: scopeFor }: RunParts, call: Call): Promise<CallResult> {
  const asked = read(call.arguments);
  if ('problem' in asked) return toolFailure(asked.problem);
  const scope = await scopeFor(call);
  const startedMs = core.now();
  const unknown = createUnknownNames(scope);
  const parts = { core, scope, unknown, parent: call, timeoutMs: config.toolCallTimeout };
  const sandbox: Sandbox = core.slots.sandboxes.get(config.sandbox);
  const outcome = await sandbox.run(
    {
      ...asked,
      owner: call.caller.key,
      functions: scope.functions.map(({ tool, flat, member }) => ({
        tool,
        ...(flat === undefined ? {} : { flat }),
        ...(member === undefined ? {} : { member }),
      })),
      call: (name, given, signal) => callInside(parts, name, given, signal),
    },
    limitsFrom(config),
    call.signal,
  );
  // the text of a script may hold anything: it is not for the log
  core.log.debug('a script ended', {
    call: call.id,
    caller: call.caller.subject,
    scriptChars: asked.script.length,
    calls: outcome.calls,
    outcome: 'failure' in outcome ? outcome.failure : 'ok',
    durationMs: core.now() - startedMs,
  });
  call.signal.throwIfAborted();
  return resultFrom(outcome, unknown);
}

type Asked = { readonly script: string; readonly data: JsonObject };

function read({ script, data, ...others }: JsonObject): Asked | { readonly problem: string } {
  const [other] = Object.keys(others);
  if (other !== undefined) return { problem: `${TOOL_NAME} takes 'script' and 'data' only, got '${other}'` };
  if (typeof script !== 'string' || script.trim() === '') {
    return { problem: `${TOOL_NAME} needs a non-empty string 'script'` };
  }
  if (Buffer.byteLength(script) > MAX_SCRIPT_BYTES) {
    return { problem: `'script' is larger than ${MAX_SCRIPT_BYTES} bytes: hand values over in 'data'` };
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

/** The value as JSON text, and as structured content when it is an object; then the logs. */
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
