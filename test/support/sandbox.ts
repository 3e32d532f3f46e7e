import type { RawJson, ScriptAnswer, ScriptFunction, ScriptJob, ScriptLimits, ScriptOutcome } from '@toolmgr/core';
import { quickjsConfig } from '../../plugins/code-mode/quickjs/config.ts';
import { createPool, type Pool } from '../../plugins/code-mode/quickjs/thread-pool.ts';

/** High enough for a loaded machine, low enough for malicious scripts. */
export const LIMITS: ScriptLimits = {
  steps: 5_000_000,
  wallClockMs: 15_000,
  memoryBytes: 67_108_864,
  resultBytes: 1_048_576,
  logBytes: 65_536,
  concurrency: 10,
  calls: 1_000,
};

/** A sandbox pool for one test. */
export interface TestSandbox extends AsyncDisposable {
  readonly pool: Pool;
  readonly warned: readonly string[];
  run(
    script: string,
    more?: Partial<ScriptJob>,
    limits?: Partial<ScriptLimits>,
    signal?: AbortSignal,
  ): Promise<ScriptOutcome>;
}

/** Opens a pool without a gateway; tools echo their arguments unless `call` says otherwise. */
export async function openSandbox(settings: object = {}): Promise<TestSandbox> {
  const warned: string[] = [];
  const pool = createPool(quickjsConfig.parse(settings), { warn: (line) => warned.push(line), debug: () => {} });
  await pool.start();
  return {
    pool,
    warned,
    run(script, more = {}, limits = {}, signal = new AbortController().signal) {
      const job: ScriptJob = { script, owner: 'ada', data: {}, functions: [ECHO], call: echo, ...more };
      return pool.run(job, { ...LIMITS, ...limits }, signal);
    },
    [Symbol.asyncDispose]: () => pool.stop(),
  };
}

const ECHO: ScriptFunction = { flat: 'echo', member: { group: 'far', name: 'echo' }, tool: 'echo' };

/** Every tool returns its arguments. */
export async function echo(_tool: string, given: RawJson): Promise<ScriptAnswer> {
  return { json: given.toString('utf8') };
}

/** The value of a successful script; fails the test otherwise. */
export function resultOf(outcome: ScriptOutcome): unknown {
  if ('json' in outcome) return JSON.parse(outcome.json);
  throw new Error(`${outcome.failure}: ${outcome.message}`);
}
