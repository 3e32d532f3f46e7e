import type { JsonValue } from '@toolmgr/core';
import { durationMs } from '@toolmgr/plugins';

/** Clients that count in seconds (Cline, Roo Code) allow at most an hour; the others count in milliseconds. */
const MOST_SECONDS = 3_600;

/** Longest time that `up` gives one call, silent or not. */
export const LONGEST_CALL_MS = 24 * 3_600_000;

/**
 * Milliseconds that the `timeout` of a server in a client file means: a number is seconds up to 3600 and milliseconds
 * above, as the clients that write one mean it; text is a Go duration. `undefined` when it is none of them, or too long.
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
