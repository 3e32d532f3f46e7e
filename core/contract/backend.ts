import type { Caller } from './caller.ts';
import type { Era, EraSetting } from './era.ts';
import type { JsonObject } from './json.ts';

/** A far server, as a backend source describes it. Compared by value: an equal description is the same backend. */
export interface Backend {
  readonly name: string;
  readonly transport: 'streamable-http' | 'sse' | 'stdio';
  /** http(s) URL; absent for stdio. */
  readonly url?: string;
  /** The program behind a stdio backend. */
  readonly command?: Command;
  /** `entry` = a remote server reached directly. */
  readonly type?: 'entry' | '';
  /** PEM file with the CAs to trust instead of the system's. */
  readonly caBundlePath?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly era?: EraSetting;
  /** Milliseconds for one answer, where the plan names none for this backend; progress starts them again. */
  readonly timeoutMs?: number;
  /** `perClient` (default): one backend session per owner; `shared`: one for all, for servers that keep no state. */
  readonly sessions?: 'perClient' | 'shared';
}

/** A program to start: exact argv, no shell. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment on top of a minimal safe one. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** How a backend is doing. */
export type BackendStatus = 'unknown' | 'ready' | 'unauthenticated' | 'unavailable';

/** What is known of a backend right now. */
export interface BackendState {
  readonly backend: Backend;
  readonly status: BackendStatus;
  /** Era found or set; `undefined` until it answered. */
  readonly era: Era | undefined;
  /** Why it is not ready: category and sentence for the operator, without secrets. */
  readonly cause: { readonly category: string; readonly message: string } | undefined;
  /** Epoch milliseconds of the last status change. */
  readonly sinceMs: number;
  /** A program that has never answered is being started, perhaps installed: since when. Epoch milliseconds. */
  readonly startingSinceMs?: number;
  /** `serverInfo`, `capabilities` and `instructions` of its last hello. */
  readonly hello: BackendHello | undefined;
  /** What a monitor makes of it; absent without one. Where there is one, status pages show this. */
  readonly health?: BackendHealth;
}

/** The health of a backend in a monitor's words. Source: vmcp spec §2 status, with the names of status pages. */
export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy' | 'unauthenticated' | 'unknown';

/** What a monitor makes of a backend. An `unhealthy` one is set aside: no call is sent to it, its lists leave in time. */
export interface BackendHealth {
  readonly status: HealthStatus;
  readonly consecutiveFailures: number;
  /** Epoch milliseconds of the last check that came to an end. */
  readonly checkedMs: number | undefined;
  /** Kind of the last failure, never its words; `undefined` after a success. */
  readonly errorCategory: string | undefined;
  /** Epoch milliseconds of the last change of `status`. */
  readonly sinceMs: number;
  /** Absent when there is no breaker. */
  readonly breaker?: { readonly state: 'closed' | 'open' | 'half-open'; readonly sinceMs: number };
}

/** What an answer or a failure says about the backend itself. */
export type BackendSign =
  | { readonly is: 'alive' }
  /** It refuses the gateway's credentials, or the gateway has none for it. */
  | { readonly is: 'unauthenticated'; readonly category: string }
  | { readonly is: 'failed'; readonly category: string }
  /** The failure was not the backend's. */
  | { readonly is: 'nothing' };

/** A backend's own words about itself. Untrusted; never used for names or authorization. */
export interface BackendHello {
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly protocolVersion: string;
}

/** Headers on their way to a backend; an authorizer adds to them. */
export interface BackendRequest {
  readonly backend: Backend;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
}

/** For whom an outbound request is made. */
export interface AuthContext {
  readonly caller: Caller;
  /** `call`: a caller's own; `session`: opening or keeping the caller's backend session; `discovery`: the gateway's. */
  readonly purpose: 'call' | 'session' | 'discovery';
  readonly signal: AbortSignal;
}
