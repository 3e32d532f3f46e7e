import type { ScriptAnswer, ScriptFunction, ScriptLimits, ScriptOutcome } from '@toolmgr/core';

/** Why a script failed. */
export type ScriptFailure = Extract<ScriptOutcome, { readonly failure: unknown }>['failure'];

import type { EngineModule } from './web-assembly.ts';

/** `workerData` of a thread. */
export interface ThreadData {
  /** Compiled once for all threads. */
  readonly engine: EngineModule;
  /** One Int32: not 0 when the running script must stop. Only the gateway writes it. */
  readonly stop: SharedArrayBuffer;
}

/** A script with its inputs and limits. */
export interface Assignment {
  readonly run: number;
  readonly script: string;
  readonly data: string;
  readonly functions: readonly ScriptFunction[];
  readonly limits: ScriptLimits;
}

/** Messages to a thread. */
export type ToThread =
  | ({ readonly type: 'run' } & Assignment)
  | { readonly type: 'answer'; readonly run: number; readonly call: number; readonly answer: ScriptAnswer }
  | { readonly type: 'stop'; readonly run: number };

/**
 * Messages from a thread. `run` identifies the script, so that late messages are ignored; `cpuUs` is the thread's computing
 * time since its start, in microseconds.
 */
export type FromThread =
  | { readonly type: 'ready'; readonly cpuUs: number }
  | {
      readonly type: 'call';
      readonly run: number;
      readonly call: number;
      readonly tool: string;
      readonly given: Uint8Array<ArrayBuffer>;
    }
  | { readonly type: 'log'; readonly run: number; readonly line: string }
  /** The script waits for answers; `answered` is the number of answers that it has received. */
  | { readonly type: 'waits'; readonly run: number; readonly answered: number; readonly cpuUs: number }
  | ({ readonly type: 'done'; readonly run: number; readonly cpuUs: number } & ThreadOutcome);

/** How a script ended, reported by its thread. */
export type ThreadOutcome =
  | { readonly json: string }
  | { readonly failure: Exclude<ScriptFailure, 'busy' | 'cancelled'>; readonly message: string };
