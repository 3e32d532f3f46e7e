import { isObject, type JsonObject } from '@toolmgr/core';
import { ownCommand } from '../../shared/own-command.ts';
import type { Explanation } from '../../shared/running/explain.ts';
import { approvalAdvice } from './held-tool.ts';
import { nearestTools } from './nearest-tools.ts';
import { pinOf } from './tool-pin.ts';

/** Whether a tool can be used now. */
export type ToolStatus =
  | 'ok'
  | 'backend-down'
  | 'not-yet'
  | 'denied'
  | 'hidden'
  | 'conflict'
  | 'not-read-only'
  | 'changed'
  | 'unknown';

/** What `tools preflight` says about one tool. */
export interface JudgedTool {
  readonly name: string;
  readonly status: ToolStatus;
  readonly reason: string;
  /** The same check may succeed later without a change. */
  readonly retryable: boolean;
  /** What to do about it; empty when it is ok. */
  readonly action: string;
  readonly backend?: string;
  /** Hash of its definition, for `--pin`. */
  readonly pin?: string;
  readonly didYouMean?: readonly string[];
}

/** Result of a check. */
export type Verdict = 'ready' | 'degraded' | 'blocked' | 'unknown';

/** What is known when tools are judged. */
export interface Known {
  /** The list of the caller. */
  readonly listed: readonly JsonObject[];
  /** Backends that the list lacks, in words. */
  readonly lacking: readonly string[];
  /** What the gateway says about a tool, when it runs on this machine. */
  readonly explained: ReadonlyMap<string, Explanation>;
  readonly readOnly: boolean;
  /** Expected hashes by name. */
  readonly pins: ReadonlyMap<string, string>;
}

/** Judges one tool. Pure. */
export function judgeTool(name: string, known: Known): JudgedTool {
  const tool = known.listed.find((one) => one.name === name);
  const explanation = known.explained.get(name);
  if (tool === undefined) return missing(name, explanation, known);
  const pin = pinOf(tool);
  const told = {
    name,
    pin,
    ...(explanation?.backend === undefined ? {} : { backend: explanation.backend.name }),
  };
  const down = explanation?.backend;
  const expected = known.pins.get(name);
  if (expected !== undefined && expected !== pin) {
    const action = `read its new definition (toolmgr tools --json), then use --pin ${name}=${pin}`;
    return { ...told, status: 'changed', reason: 'its definition is not the pinned one', retryable: false, action };
  }
  const { annotations } = tool;
  if (known.readOnly && !(isObject(annotations) && annotations.readOnlyHint === true)) {
    const reason = 'its server does not say that it only reads (readOnlyHint)';
    return { ...told, status: 'not-read-only', reason, retryable: false, action: 'leave --read-only out' };
  }
  if (down !== undefined && down.status !== 'ready' && down.cause !== undefined && down.status !== 'unauthenticated') {
    return { ...told, ...backendDown(down) };
  }
  return { ...told, status: 'ok', reason: 'it is in the list of this caller', retryable: false, action: '' };
}

/** The verdict about all tools. */
export function verdictOf(tools: readonly JudgedTool[]): Verdict {
  if (tools.some(({ status }) => status === 'unknown')) return 'unknown';
  if (tools.some(({ status, retryable }) => status !== 'ok' && !retryable)) return 'blocked';
  return tools.every(({ status }) => status === 'ok') ? 'ready' : 'degraded';
}

function missing(name: string, explanation: Explanation | undefined, known: Known): JudgedTool {
  if (explanation?.found && explanation.backend !== undefined) {
    const { backend, held, hiddenBy, mayRefuse } = explanation;
    if (held !== undefined) {
      const reason = `it is held until a person approves it: ${held}`;
      const action = approvalAdvice(explanation);
      return { name, backend: backend.name, status: 'hidden', reason, retryable: false, action };
    }
    if (hiddenBy !== undefined) {
      const reason = `the gateway hides it (${hiddenBy})`;
      const action = `change the filter, or see: toolmgr vmcp explain ${name}`;
      return { name, backend: backend.name, status: 'hidden', reason, retryable: false, action };
    }
    if (explanation.name === name) {
      const plugins = Object.values(mayRefuse).flat().join(', ');
      const reason = `the list of this caller does not have it${plugins === '' ? '' : ` (${plugins})`}`;
      const action = 'use the credentials of a caller that may use it, or change the policy';
      return { name, backend: backend.name, status: 'denied', reason, retryable: false, action };
    }
  }
  const [warning] = explanation?.warnings ?? [];
  if (warning !== undefined) {
    const action = 'rename or prefix the tools, or leave one of them out';
    return { name, status: 'conflict', reason: warning, retryable: false, action };
  }
  const near = nearestTools(
    name,
    known.listed.map((tool) => String(tool.name)),
  );
  const didYouMean = near.length === 0 ? {} : { didYouMean: near };
  if (known.lacking.length > 0) {
    const reason = `not all tools are listed yet: ${known.lacking.join(', ')}`;
    const first = near.length === 0 ? '' : `did you mean ${near.join(' or ')}? Otherwise `;
    const action = `${first}try again, or use --wait 60s`;
    return { name, status: 'not-yet', reason, retryable: true, action, ...didYouMean };
  }
  const action = near.length === 0 ? `see the names: ${ownCommand('tools')}` : `use ${near.join(' or ')}`;
  return { name, status: 'unknown', reason: 'there is no such tool', retryable: false, action, ...didYouMean };
}

function backendDown({ name, cause = '' }: NonNullable<Explanation['backend']>) {
  return {
    status: 'backend-down' as const,
    reason: `its backend ${name} is not ready: ${cause}`,
    retryable: true,
    action: `see what to do: ${ownCommand(`status ${name}`)}`,
  };
}
