import type { JsonObject, JsonValue } from './json.ts';

/** Slot `stepTypes`: one kind of composite step. */
export interface StepType {
  /** Checks the step's own part at boot. */
  compile(step: JsonObject, where: string): CompiledStep;
}

/** A step ready to run. */
export interface CompiledStep {
  run(input: JsonObject, scope: JsonObject, signal: AbortSignal): Promise<JsonValue>;
}
