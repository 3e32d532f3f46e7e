import type { Caller, JsonObject } from '@toolmgr/core';
import type { Captured } from './capture.ts';
import type { EventType } from './event-types.ts';

/** How something ended, in the words of the audit trail. */
export type Outcome = 'success' | 'failure' | 'error' | 'denied' | 'application_error';

/** What one line will say. Small: of requests and answers it holds at most the copies that were asked for. */
export interface AuditEvent {
  readonly type: EventType;
  readonly outcome: Outcome;
  readonly loggedAtMs: number;
  /** The correlation id. */
  readonly requestId: string;
  /** Where it came from; `undefined` for what the gateway itself did. */
  readonly origin: Origin | undefined;
  /** `undefined` when nobody was identified. */
  readonly caller: Caller | undefined;
  readonly clientName: string | undefined;
  readonly clientVersion: string | undefined;
  readonly target: JsonObject;
  readonly durationMs: number | undefined;
  readonly errorCode: number | undefined;
  readonly errorMessage: string | undefined;
  /** What only this kind of event has under `metadata.extra`. */
  readonly extra: JsonObject;
  /** W3C trace id of the gateway's own trace, else the client's `traceparent`. */
  readonly trace: string | undefined;
  readonly request: Captured | undefined;
  readonly response: Captured | undefined;
}

/** The far end of a request, as far as it is known: all but the address is its own word. */
export interface Origin {
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly forwardedFor: string | undefined;
  readonly sessionId: string | undefined;
  readonly isStream: boolean;
}
