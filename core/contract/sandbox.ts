import type { JsonObject, RawJson } from './json.ts';

/** Slot `sandboxes`: runs untrusted scripts. */
export interface Sandbox {
  /**
   * Runs one script until it ends or exceeds a limit. A failing script is an outcome, never a rejection. Aborting
   * `signal` stops the script and every tool call that it waits for.
   */
  run(job: ScriptJob, limits: ScriptLimits, signal: AbortSignal): Promise<ScriptOutcome>;
}

/** One script and everything that it can access. */
export interface ScriptJob {
  /** The body of an asynchronous function; its return value is the outcome. */
  readonly script: string;
  /** Owner of the run; when all workers are busy, owners get them in turn. */
  readonly owner: string;
  /** The value of `data` in the script. */
  readonly data: JsonObject;
  readonly functions: readonly ScriptFunction[];
  /**
   * Makes a tool call for the script, by the name given to `callTool`. Never rejects.
   *
   * Shape: `given` is one JSON object, checked by the sandbox and not decoded. The name may not exist.
   */
  call(tool: string, given: RawJson, signal: AbortSignal): Promise<ScriptAnswer>;
}

/** A function in the scope of a script that calls one tool. */
export interface ScriptFunction {
  /** `group.member(args)`; several functions share a group. Absent: not available in this form. */
  readonly member?: { readonly group: string; readonly name: string };
  /** `flat(args)`. Absent: not available in this form. */
  readonly flat?: string;
  /** The name that is passed to `call`. */
  readonly tool: string;
}

/** What a tool call returns to the script. */
export type ScriptAnswer =
  /** JSON text of the value. */
  | { readonly json: string }
  /** A text; the script gets its JSON value if it is JSON, else the text. */
  | { readonly text: string }
  /** Thrown in the script as an error of this name. */
  | { readonly error: string; readonly name: 'ToolError' | 'TimeoutError' };

/** Bounds of one script run. */
export interface ScriptLimits {
  /** Branches and calls of the interpreter, as exactly as the engine counts them. */
  readonly steps: number;
  /** Milliseconds from the first step of the script; waiting in the queue does not count. */
  readonly wallClockMs: number;
  /** Memory of the script and the engine together. */
  readonly memoryBytes: number;
  /** Size of the outcome as JSON text. */
  readonly resultBytes: number;
  /** Size of all log lines together; later lines are dropped, and the outcome says so. */
  readonly logBytes: number;
  /** Tool calls in flight. */
  readonly concurrency: number;
  /** Tool calls in total. */
  readonly calls: number;
}

/** The outcome of a script. */
export type ScriptOutcome = {
  readonly logs: readonly string[];
  /** Number of tool calls that it made. */
  readonly calls: number;
} & (
  | {
      /** JSON text of the returned value; `null` without one. */
      readonly json: string;
    }
  | { readonly failure: ScriptFailure; readonly message: string }
);

/** Why a script has no result. */
export type ScriptFailure =
  /** It threw, or is not valid JavaScript. */
  | 'error'
  | 'steps'
  | 'time'
  | 'memory'
  | 'result'
  /** It waits for something that can never happen. */
  | 'stuck'
  | 'cancelled'
  /** All workers and the queue were full. */
  | 'busy'
  /** The engine itself failed. */
  | 'engine';
