import type { BackendState } from '@toolmgr/core';
import { countTools, secondsOf } from '../../shared/report-starts.ts';
import { stderr } from '../../shared/terminal.ts';

/** One line about the state of a backend. A program that failed and is being restarted shows `why`, or else its cause. */
export function backendLine(state: Omit<BackendState, 'backend'>, count: number, why?: string): string {
  const { status, cause, startingSinceMs } = state;
  if (status === 'ready') return `${stderr.green('ready')}, ${countTools(count)}`;
  if (startingSinceMs === undefined || cause !== undefined) {
    return `${stderr.red(status)}: ${why ?? cause?.message.replace(NAMED, '') ?? 'no answer yet'}`;
  }
  const known =
    count === 0 ? 'its tools come when it is ready' : `until it is ready, those of last time: ${countTools(count)}`;
  return `${stderr.yellow('still starting')}, ${secondsOf(state)} s so far; ${known}`;
}

/** The line starts with the name. */
const NAMED = /^backend "[^"]*" /;
