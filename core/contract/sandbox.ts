import type { JsonValue } from './json.ts';

/** Slot `sandboxes`: runs untrusted scripts. */
export interface Sandbox {
  run(script: string, tools: ScriptTools, limits: ScriptLimits, signal: AbortSignal): Promise<ScriptOutcome>;
}

/** Tool functions a script may call, by name. */
export type ScriptTools = ReadonlyMap<string, (argument: JsonValue, signal: AbortSignal) => Promise<JsonValue>>;

/** Bounds of one script run. */
export interface ScriptLimits {
  readonly steps: number;
  readonly wallClockMs: number;
  readonly memoryBytes: number;
  readonly resultBytes: number;
}

/** What a script left behind. */
export interface ScriptOutcome {
  readonly value?: JsonValue;
  readonly error?: string;
  readonly logs: readonly string[];
}
