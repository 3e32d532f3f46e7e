import type { z } from 'zod';
import type { JsonObject, JsonValue } from './json.ts';

/** Slot `stepTypes`: one kind of composite step, under the word that `type` of a step says. */
export interface StepType<S extends z.ZodType = z.ZodType> {
  /**
   * The keys of such a step beside those that every step has: `id`, `type`, `condition`, `dependsOn`, `timeout`, `onError`
   * and `defaultResults`. A strict schema makes a slip in the file an error.
   */
  readonly options: S;
  /** Prepares one step at boot. Pure: no file, socket or timer. What is wrong is said with `compiling.problem`. */
  compile(options: z.output<S>, compiling: StepCompiling): CompiledStep;
}

/** Keys and indexes from a step to the place that is spoken of. */
export type StepPath = readonly (string | number)[];

/** What compiling a step is given. */
export interface StepCompiling {
  readonly id: string;
  /** What a failure of the step means: with `continue` a step of many parts goes on with the others. */
  readonly onError: 'abort' | 'continue' | 'retry';
  /** Reads a template; what it refers to is checked against the ancestors of the step. */
  template(text: string, path: StepPath, adds?: AddedRoots): StepTemplate<string>;
  /** Reads every string inside a value as a template, at any depth; other values and all keys pass as they are. */
  templates<V extends JsonValue>(value: V, path: StepPath, adds?: AddedRoots): StepTemplate<V>;
  /** Names a tool that the step calls: the composite is listed only while all its tools can be reached. */
  tool(name: string): void;
  /** One sentence about one place: what is wrong there, and what was expected. */
  problem(path: StepPath, message: string): void;
}

/** What a template may read that the step itself adds to the data: the members by root, e.g. `{ forEach: ['item', 'index'] }`. */
export type AddedRoots = Readonly<Record<string, readonly string[]>>;

/** A template, read once. Rendering fails like a step does. */
export interface StepTemplate<V> {
  render(data: JsonObject): V;
}

/** A step ready to run, any number of times at once. */
export interface CompiledStep {
  /** It keeps the time it was given itself; without this the engine ends it and it fails. */
  readonly keepsTime?: { readonly defaultMs: number; readonly maxMs: number };
  /** A rejection is the failure of the step; its message is told to the caller. */
  run(running: StepRunning): Promise<StepOutput>;
}

/** What a running step may read and do. */
export interface StepRunning {
  /** What templates read: `params`, `steps`, `workflow`, `vars`. */
  readonly data: JsonObject;
  /** Aborts when the step has to end: its time is over, a sibling failed, or nobody waits any more. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Epoch milliseconds. */
  now(): number;
  /**
   * Calls a tool as the caller; strings are turned into what its schema asks for. Rejects when the tool fails. `signal`
   * ends this one call, besides that of the step.
   */
  callTool(name: string, given: JsonObject, signal?: AbortSignal): Promise<StepOutput>;
  /**
   * Puts a form to the person behind the client, at most once per step.
   *
   * A client that cannot be asked in the middle of a call gets the question as its answer: then this rejects, the step
   * ends, and it is run again from its beginning when the answer is there. So it stands before what must not be done twice.
   */
  elicit(form: { readonly message: string; readonly schema: JsonObject }): Promise<Elicited>;
}

/** What came of asking. */
export interface Elicited {
  readonly action: 'accept' | 'decline' | 'cancel' | 'timeout';
  /** With `accept`: the filled form, checked against the schema. */
  readonly content?: JsonObject;
}

/** What a step leaves behind. */
export interface StepOutput {
  /** `.steps.<id>.output` */
  readonly output: JsonValue;
  /** `.steps.<id>.content`, where there is one. */
  readonly content?: JsonObject;
  /** No step that has not begun is run; the workflow completes with what there is. */
  readonly skipsRest?: true;
}
