import type { Caller } from './caller.ts';
import type { JsonObject } from './json.ts';

/** A legacy client session as plugins see it. */
export interface SessionView {
  readonly id: string;
  readonly caller: Caller;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
  readonly openedAtMs: number;
}
