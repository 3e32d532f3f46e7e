import type { Caller } from './caller.ts';
import type { Era, EraSetting } from './era.ts';
import type { JsonObject } from './json.ts';

/**
 * An MCP server behind the gateway, as a backend source describes it. Compared by value: equal descriptions mean the
 * same backend.
 */
export interface Backend {
  readonly name: string;
  readonly transport: 'streamable-http' | 'sse' | 'stdio';
  /** http(s) URL; absent for stdio. */
  readonly url?: string;
  /** The program to start for a stdio backend. */
  readonly command?: Command;
  /** `entry` = a remote server that is connected directly. */
  readonly type?: 'entry' | '';
  /** PEM file with the CAs to trust instead of those of the system. */
  readonly caBundlePath?: string;
  /** What the gateway presents to a server that demands a client certificate (mutual TLS). */
  readonly clientCertificate?: ClientCertificate;
  /** Where the host of the URL may lead; without it, anywhere. */
  readonly addresses?: AllowedAddresses;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly era?: EraSetting;
  /** Time limit for one response in milliseconds, unless the plan sets one for this backend. Progress restarts it. */
  readonly timeoutMs?: number;
  /**
   * `perClient` (default): one backend session per owner. `shared`: one for all clients with equal capabilities, for servers
   * without state. `single`: one for all clients, opened without the capabilities of any of them, for a server that is one
   * process.
   */
  readonly sessions?: 'perClient' | 'shared' | 'single';
  /** Changes with the way to authenticate to it, so that its sessions are opened again. A renewed secret changes nothing. */
  readonly credentials?: string;
}

/**
 * Addresses that the URL of a backend may lead to. `public`: public ones. `network`: private ones too. Both refuse this machine,
 * link-local addresses and the metadata services of clouds.
 */
export type AllowedAddresses = 'public' | 'network';

/** PEM files: a certificate with its chain, and its key, which has no passphrase. */
export interface ClientCertificate {
  readonly certPath: string;
  readonly keyPath: string;
}

/** A program to start: exact argv, no shell. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** Environment variables, added to a minimal safe environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Name of an entry of the slot `stdioLaunchers` that starts it; without one it is a child process of the gateway. */
  readonly launcher?: string;
}

/** State of the connection to a backend. */
export type BackendStatus = 'unknown' | 'ready' | 'unauthenticated' | 'unavailable';

/** Current state of a backend. */
export interface BackendState {
  readonly backend: Backend;
  readonly status: BackendStatus;
  /** Era detected or configured; `undefined` until the backend has answered. */
  readonly era: Era | undefined;
  /** Why it is not ready: a category and a sentence for the operator, without secrets. */
  readonly cause: { readonly category: string; readonly message: string } | undefined;
  /** Epoch milliseconds of the last status change. */
  readonly sinceMs: number;
  /** Epoch milliseconds since when a program that has never answered is being started or installed. */
  readonly startingSinceMs?: number;
  /** It refuses the gateway without a caller, and its credentials are those of callers: its lists are read for each of them. */
  readonly needsCaller?: true;
  /** `serverInfo`, `capabilities` and `instructions` of its last `initialize` or `server/discover` result. */
  readonly hello: BackendHello | undefined;
  /** Result of health monitoring; absent without a monitor. Status pages prefer it to `status`. */
  readonly health?: BackendHealth;
}

/** Health of a backend as a monitor reports it. Source: vmcp spec §2 status, with the names of status pages. */
export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy' | 'unauthenticated' | 'unknown';

/** Health of a backend. An `unhealthy` backend gets no calls, and its lists are withdrawn after a while. */
export interface BackendHealth {
  readonly status: HealthStatus;
  readonly consecutiveFailures: number;
  /** Epoch milliseconds of the last finished check. */
  readonly checkedMs: number | undefined;
  /** Kind of the last failure, without its message; `undefined` after a success. */
  readonly errorCategory: string | undefined;
  /** Epoch milliseconds of the last change of `status`. */
  readonly sinceMs: number;
  /** Absent without a circuit breaker. */
  readonly breaker?: { readonly state: 'closed' | 'open' | 'half-open'; readonly sinceMs: number };
}

/** What a response or a failure says about the state of the backend. */
export type BackendSignal =
  | { readonly is: 'alive' }
  /** It refuses the gateway's credentials, or the gateway has none for it. */
  | { readonly is: 'unauthenticated'; readonly category: string }
  | { readonly is: 'failed'; readonly category: string }
  /** The failure was not caused by the backend. */
  | { readonly is: 'nothing' };

/** What a backend says about itself. Untrusted: never used for names or authorization. */
export interface BackendHello {
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly protocolVersion: string;
}

/** One HTTP request to a backend; an authorizer adds to its headers. */
export interface BackendRequest {
  readonly backend: Backend;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The complete URL. */
  readonly url: string;
  /** The bytes that are sent; absent for a request without body. Read-only, for strategies that sign requests. */
  readonly body?: Uint8Array | undefined;
  /** Lower-case names. `content-type` and `accept` are set; headers that the client passes through are added later. */
  readonly headers: Record<string, string>;
}

/** Who a request to a backend is made for. */
export interface AuthContext {
  readonly caller: Caller;
  /**
   * `call`: a call of the caller; `session`: opening or keeping the caller's backend session; `discovery`: the
   * gateway's own requests.
   */
  readonly purpose: 'call' | 'session' | 'discovery';
  readonly signal: AbortSignal;
}
