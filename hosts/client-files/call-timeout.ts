import type { JsonValue } from '@toolmgr/core';
import { durationMs } from '@toolmgr/plugins/kit/settings';

/** Clients that count in seconds (Cline, Roo Code) allow at most an hour; the others count in milliseconds. */
const MOST_SECONDS = 3_600;

/** Upper limit of a call with `up`, with or without progress. */
export const LONGEST_CALL_MS = 24 * 3_600_000;

/**
 * Converts the `timeout` of a server in a client file to milliseconds. A number up to 3600 is seconds, a larger one
 * milliseconds, as in the clients that write it; text is a Go duration. `undefined` when it is invalid or too long.
 */
export function callTimeoutFrom(value: JsonValue): number | undefined {
  const ms =
    typeof value === 'number'
      ? value * (value <= MOST_SECONDS ? 1_000 : 1)
      : typeof value === 'string'
        ? durationMs(value)
        : undefined;
  return ms !== undefined && ms > 0 && ms <= LONGEST_CALL_MS ? Math.ceil(ms) : undefined;
}
