import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type JsonObject } from '@toolmgr/core';
import { stderr } from '../../shared/terminal.ts';

const POLL_MS = 500;

/**
 * Calls a tool, and calls it again while a gateway answers that the backend of the tool is still starting, until `deadlineMs` of
 * `performance.now()`. Such a call did not reach the backend: its tools are listed as they were last time.
 * @throws what `call` throws
 */
export async function callWhenStarted(call: () => Promise<JsonObject>, deadlineMs: number): Promise<JsonObject> {
  for (let told = false; ; told = true) {
    const result = await call();
    const leftMs = deadlineMs - performance.now();
    if (!isStarting(result) || leftMs <= 0) return result;
    if (!told) stderr.line(stderr.dim('waiting: the backend of the tool is still starting'));
    await sleep(Math.min(POLL_MS, leftMs));
  }
}

/** Whether a gateway answers instead of the backend, because its program is still starting. */
export function isStarting({ isError, content }: JsonObject): boolean {
  if (isError !== true || !Array.isArray(content) || content.length !== 1) return false;
  const [block] = content;
  return isObject(block) && typeof block.text === 'string' && STARTING.test(block.text);
}

const STARTING = /^backend ".*" is still starting\b.*\(BACKEND_STARTING\)$/;
