import type { Caller, JsonObject } from '@toolmgr/core';
import type { Captured } from './capture.ts';
import type { EventType } from './event-types.ts';

/** The outcome in the audit event. */
export type Outcome = 'success' | 'failure' | 'error' | 'denied' | 'application_error';

/** The data of one line. Contains copies of request and response only when configured. */
export interface AuditEvent {
  /** The same in every sink; absent with one sink: then the line gets a new one. */
  readonly auditId?: string;
  readonly type: EventType;
  readonly outcome: Outcome;
  readonly loggedAtMs: number;
  /** The correlation id. */
  readonly requestId: string;
  /** The client's connection; `undefined` for events of the gateway itself. */
  readonly origin: Origin | undefined;
  /** `undefined` without an authenticated caller. */
  readonly caller: Caller | undefined;
  readonly clientName: string | undefined;
  readonly clientVersion: string | undefined;
  readonly target: JsonObject;
  readonly durationMs: number | undefined;
  readonly errorCode: number | undefined;
  readonly errorMessage: string | undefined;
  /** Members of `metadata.extra` that only this type has. */
  readonly extra: JsonObject;
  /** W3C trace id of the gateway's own trace, else the client's `traceparent`. */
  readonly trace: string | undefined;
  readonly request: Captured | undefined;
  readonly response: Captured | undefined;
}

/** The client's connection. Only the address is verified; the rest are the client's claims. */
export interface Origin {
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly forwardedFor: string | undefined;
  readonly sessionId: string | undefined;
  readonly isStream: boolean;
}
