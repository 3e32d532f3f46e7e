import type { Backend, BackendHealth, BackendHello, BackendState } from '../contract/backend.ts';
import type { Call, CallResult } from '../contract/call.ts';
import type { MirroredParam } from '../contract/catalog-entry.ts';
import type { SessionOwner } from '../contract/client-context.ts';
import type { Era } from '../contract/era.ts';
import type { BackendChanged } from '../contract/event.ts';
import type { RawJson } from '../contract/json.ts';
import type { UserActionRequired } from '../errors.ts';
import type { ListKind } from '../mcp/methods.ts';

/** One item of a backend's list, unchanged. */
export interface ListedItem {
  /** `name`, `uri` or `uriTemplate`. */
  readonly key: string;
  readonly definition: RawJson;
  /** Tools only: valid `x-mcp-header` annotations, compiled. Absent without annotations. */
  readonly mirrored?: readonly MirroredParam[];
}

/** All lists of one backend for one capability class. */
export interface BackendListing {
  readonly backend: string;
  readonly era: Era;
  readonly hello: BackendHello;
  readonly tools: readonly ListedItem[];
  readonly prompts: readonly ListedItem[];
  readonly resources: readonly ListedItem[];
  readonly templates: readonly ListedItem[];
  /** When the lists were read and for how long the backend calls them valid; absent for lists that it does not have. */
  readonly read?: Readonly<Partial<Record<ListKind, ListReading>>>;
  /** A list store kept it; the backend has not answered since. */
  readonly isOfEarlierRun?: true;
}

/** One reading of a list. */
export interface ListReading {
  readonly atMs: number;
  /** The shortest `ttlMs` of its pages; 0 without one (MCP 2026-07-28, caching). */
  readonly ttlMs: number;
}

/** State of the lists of one caller. */
export type CallerLists = 'known' | 'old' | 'missing';

/** A backend controller that the next gateway may take over at a reload. */
export interface LeasedController {
  readonly backend: Backend;
  readonly state: BackendState;
}

/** All backends of one gateway. */
export interface BackendManager {
  /** Replaces the set of backends: opens new ones, closes removed ones, keeps equal ones. */
  replace(backends: readonly Backend[]): void;
  /**
   * Closes the sessions and programs of a backend and opens new ones; its lists stay until it has sent new ones. Resolves after the
   * first attempt, successful or not. @throws GatewayFault BACKEND_UNKNOWN
   */
  restart(backend: string): Promise<void>;
  /**
   * Resolves when no backend is new any more, at most after `limits.discoveryMs`; `undefined` when none is new now. A
   * backend is new until it has its first lists or an error, and no longer than that time.
   */
  settling(): Promise<void> | undefined;
  /** Sorted by name. */
  states(): readonly BackendState[];
  /** The detected era of a backend; `undefined` for an unknown backend and until it has answered. */
  eraOf(backend: string): Era | undefined;
  /** Lists of a class, by backend; a backend without lists for the class has those of the base class `''`. */
  listings(capabilityClass: string): ReadonlyMap<string, BackendListing>;
  /** Whether any backend has lists for exactly this class. */
  hasLists(listClass: string): boolean;
  /**
   * State of the lists that backends give to this owner's caller only: `missing` ones are worth waiting for in
   * `prepareOwner`, `old` ones may be served while it reads them again.
   */
  callerLists(owner: SessionOwner): CallerLists;
  /** Backends whose lists a caller gets only after it has done something, by name. */
  required(listClass: string): ReadonlyMap<string, UserActionRequired>;
  /** Why available backends have no lists for a caller's class, by name. */
  unread(listClass: string): ReadonlyMap<string, string>;
  /**
   * Lists that this owner would see and that are being read, by promises of which none rejects. They are read when no caller
   * does it yet, also those that have become too old.
   */
  listsToCome(owner: SessionOwner): readonly Promise<unknown>[];
  /** Backends may give the owner's caller other lists now, or some at last: those known so far are old. */
  credentialsChanged(owner: SessionOwner): void;
  /**
   * Opens the owner's sessions to legacy backends without lists for its class, and reads the lists through them.
   * Resolves when done or after `limits.discoveryMs`; does not wait for unavailable backends.
   */
  prepareOwner(owner: SessionOwner): Promise<void>;
  /**
   * Sends one call to `call.target.backend` and resolves with its result.
   *
   * The params get the backend's own name, the gateway's progress token and, for a modern backend, the envelope with
   * `call.client.owner.capabilities`. Progress and log notifications are passed to `call.client.notify`, requests to
   * `call.client.request`. A lost backend session is reopened once, and only a request that certainly did not run is
   * repeated. `input_required` results are returned unchanged.
   * @throws GatewayFault BACKEND_* or AUTH_STRATEGY_FAILED · BackendError with the backend's own JSON-RPC error ·
   * the reason of `call.signal` when it aborts
   */
  send(call: Call): Promise<CallResult>;
  /** Resolves when the backend responds. @throws GatewayFault; see `Backends.probe` */
  probe(backend: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Begins to read lists again whose changes no backend announces and that have become too old. */
  renewOldLists(): void;
  /** Applies the health that a monitor reports; ignored for a removed backend. */
  setHealth(backend: string, health: BackendHealth): void;
  /** The controller of a backend, for a gateway that takes over. */
  lease(backend: string): LeasedController | undefined;
  /** Subscribes to a resource on the owner's session; updates are passed to the owner's sink. */
  watch(backend: string, uri: string, owner: SessionOwner): Promise<void>;
  unwatch(backend: string, uri: string, owner: SessionOwner): Promise<void>;
  setLogLevel(owner: SessionOwner, level: string): void;
  rootsChanged(owner: SessionOwner): void;
  /** Closes every session of an owner. */
  release(ownerKey: string): void;
  /** Counts for leak tests and status pages. */
  counts(): { readonly links: number; readonly processes: number; readonly callsInFlight: number };
  stop(): Promise<void>;
}

/** Events of the backends. */
export interface BackendManagerEvents {
  /** The lists of a backend for one class were read, changed, or withdrawn after the grace period. */
  listed(backend: string, capabilityClass: string): void;
  changed(event: BackendChanged): void;
}
