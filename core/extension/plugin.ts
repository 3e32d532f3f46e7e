import type { z } from 'zod';
import type { BackendHealth, BackendState } from '../contract/backend.ts';
import type { BytesInFlight } from '../contract/bytes-in-flight.ts';
import type { Call, Reply, ToolEntry } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Environment } from '../contract/environment.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import type { ContractSection } from './contract-section.ts';
import type { ExtensionPoints } from './extension-points.ts';
import type { Hooks } from './hooks.ts';
import type { Slots } from './slots.ts';

/** One feature. `apply` only taps and registers: it opens no file, socket, timer or wasm before `starting`. */
export interface Plugin<S extends z.ZodType = z.ZodType> extends ContractSection {
  /** {@link PLUGIN_API_VERSION} of the core that the plugin was made with; `definePlugin` writes it. */
  readonly apiVersion?: number;
  /** Folder path, YAML key, tap name and metric label in one, e.g. `authorization/cedar`. */
  readonly address: string;
  readonly stability?: 'stable' | 'alpha';
  /** One sentence for the reference page. */
  readonly summary?: string;
  /** Source of strict validation, defaults, the docs page and the CRD fragment. */
  readonly config: S;
  /**
   * Schemas of the options of the outgoing-auth strategies of this plugin, by their name in the slot: `{ header_injection: … }`.
   * A host validates its YAML with them, so that a wrong option is reported with its line before anything starts. In a vmcp file
   * `type: header_injection` chooses the strategy, and `headerInjection`, its name in camel case, has the options.
   */
  readonly slotOptions?: Readonly<Record<string, z.ZodType>>;
  apply(core: Core, config: z.output<S>): void;
}

/** What the core offers to a plugin. */
export interface Core {
  readonly hooks: Hooks;
  readonly slots: Slots;
  /** A slot that a package defined with `defineSlot`. */
  readonly slot: ExtensionPoints['slot'];
  /** A hook that a package defined with `defineHook`. */
  readonly hook: ExtensionPoints['hook'];
  /** Makes an inner call, which is limited, authorized and audited like calls of clients. */
  perform(inner: InnerCall): Promise<Reply>;
  /** The tools that a list shows to the caller of `call`, sorted by key; for tools that call other tools. */
  toolsFor(call: Call): Promise<readonly ToolEntry[]>;
  /**
   * All tools that the client of `call` can reach at the direct path, before any policy, sorted by key. The same array
   * until the lists change, so derived data can be cached by it.
   */
  reachable(call: Call): readonly ToolEntry[];
  /** Epoch milliseconds; tests replace it. */
  now(): number;
  readonly log: Log;
  /** Variables of the environment, as the host gives them. A plugin reads these, and never `process.env`. */
  readonly environment: Environment;
  /** The plan's name and version. The same in all replicas of one gateway. */
  readonly server: { readonly name: string; readonly version: string };
  readonly backends: Backends;
  /** Requests, results and unsent responses in memory, and what was refused for lack of space. */
  bytesInFlight(): BytesInFlight;
  readonly endpoint: EndpointSettings;
}

/** Settings of the MCP endpoint that a plugin may change in `apply`. */
export interface EndpointSettings {
  /** Serves this revision only: clients of another one get the response of a server that does not know it. */
  serveOnly(era: Era): void;
  /**
   * Serves the endpoint at a second path, which shows the entries with `servedAt: 'direct'` instead of those with
   * `'front'`.
   * @throws GatewayFault PLAN_INVALID when the path is not below the endpoint's path, or a second path is already set
   */
  serveDirect(path: string): void;
}

/** Lets a plugin read and control the backends. There are none before `starting` has finished. */
export interface Backends {
  /** Sorted by name. */
  states(): readonly BackendState[];
  /** Name of the outgoing-auth strategy towards a backend. */
  strategyOf(name: string): string;
  /**
   * Sends the cheapest request of the backend's revision over the existing connection. Reconnects at once to an
   * unavailable backend. Resolves with the duration in milliseconds, also for an error response that shows that the
   * backend works; `timeoutMs` limits it.
   * @throws an error that `classifySignal` classifies; BACKEND_UNKNOWN when the backend is not configured (any more)
   */
  probe(name: string, timeoutMs: number, signal: AbortSignal): Promise<number>;
  /**
   * Sets the health that a monitor found for a backend. Idempotent; reset when the description of the backend changes.
   */
  setHealth(name: string, health: BackendHealth): void;
  /**
   * The credentials that backends get for some callers may have changed, e.g. because a person connected an account: the lists
   * that depend on these callers are read again at once, also those that could not be read a moment ago.
   */
  credentialsChanged(concerns: (caller: Caller) => boolean): void;
  /** Calls `shapeCatalog` and `shapeInstructions` again soon, because a plugin decides differently about the same lists now. */
  reshape(): void;
  /** After this a list with a missing backend is an error that names it, and the gateway is not ready meanwhile. */
  requireAll(): void;
}

/** A call that a plugin makes for a caller. */
export interface InnerCall {
  readonly parent: Call;
  /** Advertised name, or `backend.original` for entries that clients do not see. */
  readonly name: string;
  /** Bytes are sent unchanged, large integers included. */
  readonly arguments: JsonObject | RawJson;
  readonly caller?: Caller;
  readonly signal?: AbortSignal;
  /**
   * Part of a tool that the operator configured: policy and limits were applied to that tool and are not applied again.
   * Only for calls that no caller chose, e.g. the steps of a composite tool.
   */
  readonly curated?: boolean;
  /** The caller chose the name: only names that the direct path lists are valid. */
  readonly isChosen?: boolean;
}

/** Structured log lines: constant message, variable fields. Debug lines cost nothing when the level is off. */
export interface Log {
  debug(message: string, fields?: JsonObject): void;
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
  /**
   * A line that the program of a backend wrote to stderr, with the values of its environment masked. A log without this
   * method does not get them.
   */
  programLine?(backend: string, line: string): void;
}

/**
 * Version of the interface between the core and plugins. A change that breaks plugins counts it up; a plugin of another version is
 * refused with what to update. It is no version of the package: all packages of one version work together.
 */
export const PLUGIN_API_VERSION = 1;

/** The plugin with the version of the interface that it was made for; `config` and `apply` are typed by its schema. */
export function definePlugin<S extends z.ZodType>(plugin: Plugin<S>): Plugin<S> {
  return { apiVersion: PLUGIN_API_VERSION, ...plugin };
}
