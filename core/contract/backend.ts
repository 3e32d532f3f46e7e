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
  /** `serverInfo`, `capabilities` and `instructions` of its last hello. */
  readonly hello: BackendHello | undefined;
}

/** A backend's own words about itself. Untrusted; never used for names or authorization. */
export interface BackendHello {
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly protocolVersion: string;
}

/** Headers on their way to a backend; an authorizer adds to them. */
export interface Outbound {
  readonly backend: Backend;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
}

/** For whom an outbound request is made. */
export interface Errand {
  readonly caller: Caller;
  /** `call`: a caller's own; `session`: opening or keeping the caller's backend session; `discovery`: the gateway's. */
  readonly purpose: 'call' | 'session' | 'discovery';
  readonly signal: AbortSignal;
}
