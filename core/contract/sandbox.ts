import type { JsonObject, RawJson } from './json.ts';

/** Slot `sandboxes`: runs untrusted scripts. */
export interface Sandbox {
  /**
   * Runs one script to its end or to the first limit it breaks. What a script does is an outcome, never a rejection;
   * aborting `signal` stops it, and every tool call that it waits for.
   */
  run(job: ScriptJob, limits: ScriptLimits, signal: AbortSignal): Promise<ScriptOutcome>;
}

/** One script and all that it may touch. */
export interface ScriptJob {
  /** The body of an asynchronous function; what it returns is the outcome. */
  readonly script: string;
  /** For whom it runs: where places are scarce, owners take turns. */
  readonly owner: string;
  /** What the script finds as `data`. */
  readonly data: JsonObject;
  readonly functions: readonly ScriptFunction[];
  /**
   * Makes a tool call for the script, by the name it gave to `callTool`. Never rejects.
   *
   * Shape: `given` is one JSON object, checked by the sandbox and not decoded: the name may be that of no tool.
   */
  call(tool: string, given: RawJson, signal: AbortSignal): Promise<ScriptAnswer>;
}

/** A function in the scope of a script that calls one tool. */
export interface ScriptFunction {
  /** `group.member(args)`; several functions share a group. Absent: not to be had this way. */
  readonly member?: { readonly group: string; readonly name: string };
  /** `flat(args)`. Absent: not to be had this way. */
  readonly flat?: string;
  /** What is handed to `call`. */
  readonly tool: string;
}

/** What a tool call gives to the script. */
export type ScriptAnswer =
  /** JSON text of the value. */
  | { readonly json: string }
  /** A text; the script gets what it says when it is JSON, else the text. */
  | { readonly text: string }
  /** Thrown in the script as an error of this name. */
  | { readonly error: string; readonly name: 'ToolError' | 'TimeoutError' };

/** Bounds of one script run. */
export interface ScriptLimits {
  /** Branches and calls of the interpreter, as closely as the engine counts. */
  readonly steps: number;
  /** From its first step on; waiting for a place does not count. */
  readonly wallClockMs: number;
  /** All that the script may hold, the engine's own share included. */
  readonly memoryBytes: number;
  /** Of the outcome as JSON text. */
  readonly resultBytes: number;
  /** Of all log lines together; what comes later is dropped, and said so. */
  readonly logBytes: number;
  /** Tool calls in flight. */
  readonly concurrency: number;
  /** Tool calls in all. */
  readonly calls: number;
}

/** What a script left behind. */
export type ScriptOutcome = {
  readonly logs: readonly string[];
  /** Tool calls that it made. */
  readonly calls: number;
} & (
  | {
      /** JSON text of what it returned; `null` when it returned nothing. */
      readonly json: string;
    }
  | { readonly failure: ScriptFailure; readonly message: string }
);

/** Why a script came to no result. */
export type ScriptFailure =
  /** It threw, or is no JavaScript. */
  | 'error'
  | 'steps'
  | 'time'
  | 'memory'
  | 'result'
  /** It waits for something that cannot come. */
  | 'stuck'
  | 'cancelled'
  /** No place was free. */
  | 'busy'
  /** The engine itself gave up. */
  | 'engine';
