import type { z } from 'zod';
import type { JsonObject, JsonValue } from './json.ts';

/** Slot `stepTypes`: one kind of composite step, registered under the value of `type`. */
export interface StepType<S extends z.ZodType = z.ZodType> {
  /**
   * The keys of such a step, besides those of every step: `id`, `type`, `condition`, `dependsOn`, `timeout`, `onError`
   * and `defaultResults`. Use a strict schema, so that a misspelt key is an error.
   */
  readonly options: S;
  /** Compiles one step at boot. Pure: no file, socket or timer. Reports problems with `compiling.problem`. */
  compile(options: z.output<S>, compiling: StepCompileContext): CompiledStep;
}

/** Keys and indexes from a step to a place inside it. */
export type StepPath = readonly (string | number)[];

/** What `compile` of a step type gets. */
export interface StepCompileContext {
  readonly id: string;
  /** What happens after a failure of the step: with `continue` a step with several parts runs its other parts. */
  readonly onError: 'abort' | 'continue' | 'retry';
  /** Parses a template; its references are checked against the ancestors of the step. */
  template(text: string, path: StepPath, adds?: AddedRoots): StepTemplate<string>;
  /** Parses every string inside a value as a template, at any depth; other values and all keys are kept. */
  templates<V extends JsonValue>(value: V, path: StepPath, adds?: AddedRoots): StepTemplate<V>;
  /** Declares a tool that the step calls: the composite is listed only while all its tools are reachable. */
  tool(name: string): void;
  /** Reports one problem: its place, what is wrong there, and what was expected. */
  problem(path: StepPath, message: string): void;
}

/** Template data that the step itself adds: the members by root, e.g. `{ forEach: ['item', 'index'] }`. */
export type AddedRoots = Readonly<Record<string, readonly string[]>>;

/** A parsed template. When rendering fails, the step fails. */
export interface StepTemplate<V> {
  render(data: JsonObject): V;
}

/** A compiled step; several runs of it may be active at once. */
export interface CompiledStep {
  /** The step enforces its timeout itself; otherwise the engine ends it at its timeout, and it fails. */
  readonly keepsTime?: { readonly defaultMs: number; readonly maxMs: number };
  /** Runs the step. A rejection fails the step; the caller sees its message. */
  run(running: StepRunContext): Promise<StepOutput>;
}

/** What a running step may read and do. */
export interface StepRunContext {
  /** The data of templates: `params`, `steps`, `workflow`, `vars`. */
  readonly data: JsonObject;
  /** Aborts when the step has to end: timeout, a failed sibling, or a cancelled call. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Epoch milliseconds. */
  now(): number;
  /**
   * Calls a tool as the caller; strings are converted to the types of its input schema. Rejects when the tool fails.
   * `signal` cancels this call only, in addition to the signal of the step.
   */
  callTool(name: string, given: JsonObject, signal?: AbortSignal): Promise<StepOutput>;
  /**
   * Shows a form to the user of the client, at most once per step.
   *
   * A client that cannot receive requests during a call gets the form as an `input_required` result. Then this function
   * rejects and the step ends; with the answer the step runs again from its beginning. So call it before anything that
   * must not be done twice.
   */
  elicit(form: { readonly message: string; readonly schema: JsonObject }): Promise<Elicited>;
}

/** The answer of the user. */
export interface Elicited {
  readonly action: 'accept' | 'decline' | 'cancel' | 'timeout';
  /** With `accept`: the completed form, checked against the schema. */
  readonly content?: JsonObject;
}

/** The output of a step. */
export interface StepOutput {
  /** `.steps.<id>.output` */
  readonly output: JsonValue;
  /** `.steps.<id>.content`, if there is one. */
  readonly content?: JsonObject;
  /** Starts no further step; the workflow completes with the present outputs. */
  readonly skipsRest?: true;
}
