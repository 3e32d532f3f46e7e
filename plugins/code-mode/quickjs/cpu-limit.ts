/** Work inside a built-in (`sort`, `replace`, a regular expression, `BigInt`) is not counted in steps, so its time is limited. */
const STEP_MS = 0.01; // a step of the interpreter takes a tenth of this
/** Minimum for every script: parsing its text and data takes time. */
const MIN_CPU_MS = 250;

/** Processor time that a script with a step limit may use, in milliseconds. */
export function cpuLimitMs(steps: number): number {
  return Math.max(MIN_CPU_MS, steps * STEP_MS);
}

/** The error text for a script that exceeded its processor time. */
export function tooMuchNativeWork(steps: number): string {
  return `the script took more than ${steps} steps (10 µs inside a built-in are a step)`;
}
