import type { Backend, BackendHealth, BackendHello, BackendState } from '../contract/backend.ts';
import type { Call, CallResult } from '../contract/call.ts';
import type { MirroredParam } from '../contract/catalog-entry.ts';
import type { SessionOwner } from '../contract/client-context.ts';
import type { Era } from '../contract/era.ts';
import type { BackendChanged } from '../contract/event.ts';
import type { RawJson } from '../contract/json.ts';

/** One item of a backend's list, as it came. */
export interface ListedItem {
  /** `name`, `uri` or `uriTemplate`. */
  readonly key: string;
  readonly definition: RawJson;
  /** Tools only: valid `x-mcp-header` annotations, compiled. Absent when there are none. */
  readonly mirrored?: readonly MirroredParam[];
}

/** All lists of one backend as one capability class sees them. */
export interface BackendListing {
  readonly backend: string;
  readonly era: Era;
  readonly hello: BackendHello;
  readonly tools: readonly ListedItem[];
  readonly prompts: readonly ListedItem[];
  readonly resources: readonly ListedItem[];
  readonly templates: readonly ListedItem[];
}

/** What is known of the lists of one caller. */
export type CallerLists = 'known' | 'old' | 'missing';

/** A backend that is kept by one room and may go on in another. */
export interface Kept {
  readonly backend: Backend;
  readonly state: BackendState;
}

/** The far side as the floors above see it. */
export interface BackendManager {
  /** Replaces the set of backends: new ones are opened, gone ones closed, equal ones left alone. */
  replace(backends: readonly Backend[]): void;
  /**
   * Resolves when no backend is new any more, at most after `limits.discoveryMs`; `undefined` when none is now. A backend
   * is new until it has its first lists or an error, and no longer than that time.
   */
  settling(): Promise<void> | undefined;
  /** Sorted by name. */
  states(): readonly BackendState[];
  /** The era a backend was found to speak; `undefined` for an unknown one and until it answered. */
  eraOf(backend: string): Era | undefined;
  /** Lists as a class sees them, by backend; a backend without lists for the class gives those of the base class `''`. */
  listings(capabilityClass: string): ReadonlyMap<string, BackendListing>;
  /** Whether any backend has lists of this very class. */
  hasLists(listClass: string): boolean;
  /**
   * What is known of the lists that backends give this owner's caller only: `missing` ones are worth waiting for in
   * `welcome`, `old` ones may be served while it reads them again.
   */
  callerLists(owner: SessionOwner): CallerLists;
  /**
   * Opens the owner's sessions to legacy backends whose lists its class has not seen, and lists through them.
   * Resolves when done or after `limits.discoveryMs`; a backend known to be away is not waited for.
   */
  prepareOwner(owner: SessionOwner): Promise<void>;
  /**
   * Sends one call to `call.target.backend` and resolves with its result.
   *
   * The params get the backend's own name, the backend's progress token and, towards a modern backend, the envelope
   * with `call.client.owner.capabilities`. Progress and log notifications go to `call.client.tell`, questions to
   * `call.client.ask`. A lost backend session is made again once, and only a request that surely did not run is
   * repeated. `input_required` results come back as they are.
   * @throws GatewayFault BACKEND_* or AUTH_STRATEGY_FAILED · BackendError with the backend's own JSON-RPC error ·
   * the reason of `call.signal` when it aborts
   */
  send(call: Call): Promise<CallResult>;
  /** Resolves with a sign of life. @throws GatewayFault; see `Backends.probe` */
  probe(backend: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Takes a monitor's verdict on a backend; of one that has gone it is nothing. */
  setHealth(backend: string, health: BackendHealth): void;
  /** What keeps a backend here, for a room that takes this one's place. */
  lend(backend: string): Kept | undefined;
  /** Subscribes to a resource on the owner's session; updates arrive at the owner's sink. */
  watch(backend: string, uri: string, owner: SessionOwner): Promise<void>;
  unwatch(backend: string, uri: string, owner: SessionOwner): Promise<void>;
  setLogLevel(owner: SessionOwner, level: string): void;
  rootsChanged(owner: SessionOwner): void;
  /** Closes every session of an owner. */
  release(ownerKey: string): void;
  /** Counts for leak checks and status pages. */
  counts(): { readonly links: number; readonly processes: number; readonly callsInFlight: number };
  stop(): Promise<void>;
}

/** What the room tells the floors above. */
export interface BackendManagerEvents {
  /** A backend's lists are there, changed, or have left (after the grace time) for one class. */
  listed(backend: string, capabilityClass: string): void;
  changed(event: BackendChanged): void;
}
