import type { z } from 'zod';
import type { BackendHealth, BackendState } from '../contract/backend.ts';
import type { Call, Reply } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import type { ToolEntry } from '../contract/tool.ts';
import type { Hooks } from './hooks.ts';
import type { Slots } from './slots.ts';

/** One feature. `apply` only taps and registers: no file, socket, timer or wasm is opened before `starting`. */
export interface Plugin<S extends z.ZodType = z.ZodType> {
  /** Folder path, YAML key, tap name and metric label are the same word, e.g. `authorization/cedar`. */
  readonly address: string;
  readonly stability?: 'stable' | 'alpha';
  /** One sentence for the reference page. */
  readonly summary?: string;
  /** The key of the contract's `spec.config` that this plugin owns, when it owns one. */
  readonly contractKey?: string;
  /** One source for strict reading, defaults, the docs page and the CRD fragment. */
  readonly config: S;
  /**
   * Options that one use of a slot entry of this plugin takes, by slot name, e.g. `{ header_injection: … }`.
   * Hosts read their YAML with it, so a wrong option is found with its line before anything starts.
   */
  readonly slotOptions?: Readonly<Record<string, z.ZodType>>;
  apply(core: Core, config: z.output<S>): void;
}

/** What a plugin gets to work with. */
export interface Core {
  readonly hooks: Hooks;
  readonly slots: Slots;
  /** The only way in for inner calls: limited, authorized and audited like outer ones. */
  perform(inner: InnerCall): Promise<Reply>;
  /** The tools that a list shows the caller of `call`, sorted by key: for tools that lead to others. */
  toolsFor(call: Call): Promise<readonly ToolEntry[]>;
  /**
   * All tools that a client like the client of `call` reaches at the direct door, before any policy, sorted by key. The same
   * array until the lists change: what is worked out from it is kept by it.
   */
  reachable(call: Call): readonly ToolEntry[];
  /** Epoch milliseconds; a test replaces it. */
  now(): number;
  readonly log: Log;
  /** Who this gateway says it is: the plan's name and version. Replicas of one gateway say the same. */
  readonly server: { readonly name: string; readonly version: string };
  readonly backends: Backends;
  readonly door: Door;
}

/** What a plugin may say about the MCP endpoint, in `apply`. */
export interface Door {
  /** No other revision is spoken: clients of another are answered as servers do that never heard of it. */
  speakOnly(era: Era): void;
  /**
   * Serves the endpoint at a second path, which shows entries that are `servedAt: 'direct'` and not those of the front.
   * @throws GatewayFault PLAN_INVALID when it does not lie below the endpoint's path, or another is served already
   */
  openDirect(path: string): void;
}

/** The backends as a plugin sees them and acts on them. There are none before `starting` is over. */
export interface Backends {
  /** Sorted by name. */
  states(): readonly BackendState[];
  /** Name of the outgoing-auth strategy towards a backend. */
  strategyOf(name: string): string;
  /**
   * Asks for a sign of life in the cheapest way that the backend's revision has, over the connection that is there. One
   * that is away is looked for again at once. Resolves with the milliseconds it took, and for a refusal that shows life
   * too; `timeoutMs` bounds it.
   * @throws what `signOfLife` reads; BACKEND_UNKNOWN when it is not configured (any more)
   */
  probe(name: string, timeoutMs: number, signal: AbortSignal): Promise<number>;
  /** Says what a monitor makes of a backend. Idempotent; forgotten when its description changes. */
  judge(name: string, health: BackendHealth): void;
  /** From now on a list that lacks a backend is an error that names it, and the gateway is not ready meanwhile. */
  requireAll(): void;
}

/** A call that a plugin makes on a caller's behalf. */
export interface InnerCall {
  readonly parent: Call;
  /** Advertised name, or `workload.original` for entries hidden from clients. */
  readonly name: string;
  /** As bytes they arrive as they are, large integers included. */
  readonly arguments: JsonObject | RawJson;
  readonly caller?: Caller;
  readonly signal?: AbortSignal;
  /**
   * The operator put this call into a tool of theirs, and policy and limits decided that tool: they are not asked again.
   * Only for calls that no caller chose, e.g. the steps of a composite tool.
   */
  readonly curated?: boolean;
  /** The caller chose the name: only what a client reaches at the direct door, by the name that it is listed under there. */
  readonly isChosen?: boolean;
}

/** Structured log lines: constant message, variable fields. Debug lines cost nothing when the level is off. */
export interface Log {
  debug(message: string, fields?: JsonObject): void;
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
}

/** Returns the plugin as it is, with `config` and `apply` typed from its schema. */
export function definePlugin<S extends z.ZodType>(plugin: Plugin<S>): Plugin<S> {
  return plugin;
}
