import type { ScriptAnswer, ScriptFailure, ScriptFunction, ScriptLimits } from '@toolmgr/core';
import type { EngineModule } from './web-assembly.ts';

/** What a thread is started with. */
export interface ThreadData {
  /** Compiled once for all threads. */
  readonly engine: EngineModule;
  /** One Int32: not zero when the script that runs has to stop. Written by the gateway only. */
  readonly stop: SharedArrayBuffer;
}

/** A script as a thread gets it. */
export interface Assignment {
  readonly run: number;
  readonly script: string;
  readonly data: string;
  readonly functions: readonly ScriptFunction[];
  readonly limits: ScriptLimits;
}

/** To a thread. */
export type ToThread =
  | ({ readonly say: 'run' } & Assignment)
  | { readonly say: 'answer'; readonly run: number; readonly call: number; readonly answer: ScriptAnswer }
  | { readonly say: 'stop'; readonly run: number };

/**
 * From a thread. `run` tells a late word of one script from those of the next; `cpuUs` is what the thread has computed since
 * it began, in microseconds.
 */
export type FromThread =
  | { readonly say: 'ready'; readonly cpuUs: number }
  | {
      readonly say: 'call';
      readonly run: number;
      readonly call: number;
      readonly tool: string;
      readonly given: Uint8Array<ArrayBuffer>;
    }
  | { readonly say: 'log'; readonly run: number; readonly line: string }
  /** The script has nothing to compute before its next answer; so many it has been given. */
  | { readonly say: 'waits'; readonly run: number; readonly answered: number; readonly cpuUs: number }
  | ({ readonly say: 'done'; readonly run: number; readonly cpuUs: number } & ThreadOutcome);

/** How a script ended, as far as a thread can tell. */
export type ThreadOutcome =
  | { readonly json: string }
  | { readonly failure: Exclude<ScriptFailure, 'busy' | 'cancelled'>; readonly message: string };
