/** Work inside one built-in (`sort`, `replace`, a regular expression, `BigInt`) takes no steps of the interpreter: its time counts. */
const STEP_MS = 0.01; // a step of the interpreter takes a tenth of it
/** What every script may compute: reading its text and data takes time, whatever the limit. */
const LEAST_MS = 250;

/** What a script of so many steps may compute, in milliseconds of processor time. */
export function cpuLimitMs(steps: number): number {
  return Math.max(LEAST_MS, steps * STEP_MS);
}

/** What is said of a script that computed longer. */
export function tooMuchNativeWork(steps: number): string {
  return `the script took more than ${steps} steps (10 µs inside a built-in are a step)`;
}
