import type { z } from 'zod';

/** A plugin's section of the contract's file (the vmcp file of `toolmgr vmcp`). */
export interface ContractSection extends SectionPlace, SectionReader {}

/**
 * Where the section is, and what a host does with it before anything reads it. The catalogue holds it, so that a file is read
 * without the plugins and readers of sections that it does not have.
 */
export interface SectionPlace {
  /**
   * Where the section is in the file: `rateLimiting`; a dot leads into a section (`operational.failureHandling`); `*` is every
   * entry of a map (`outgoingAuth.*.tokenExchange`).
   */
  readonly contractKey?: string;
  /** The plugin is one of several that `type` in a section chooses. */
  readonly choice?: Choice;
  /** A file without the section is refused. */
  readonly isRequired?: boolean;
  /** The host reads a key `enabled` (default false) in the section. While it is false the plugin is not in the plan. */
  readonly hasSwitch?: boolean;
  /** The plugin is in the plan of every file, and takes no configuration from it. */
  readonly isInEveryPlan?: boolean;
  /** The plugin is in the plan of every file without the section of this key. */
  readonly whenAbsent?: string;
  /**
   * Commands that leave the section out: `listing` asks backends what they offer (`validate --connect`, `explain`), `running`
   * calls one tool for the person at the terminal (`workflow run`), `deciding` decides calls of the past (`simulate`).
   */
  readonly leftOutOf?: readonly ('listing' | 'running' | 'deciding')[];
  /** Tools that the plugin lists, whatever its section says. */
  readonly ownTools?: readonly string[];
  /** The plugin judges the health of backends. */
  readonly monitorsBackends?: boolean;
}

/**
 * How the section is read. First-party plugins keep it in `contract.ts` beside `index.ts`; it imports nothing of the plugin.
 */
export interface SectionReader {
  /**
   * The schema of the section, made from that of the plugin. Default: the plugin's `config`, or its member that has the name of
   * the section.
   */
  schema?(config: z.ZodObject, section: unknown): z.ZodType;
  /** What other sections need to know of this one, which was read without problems. */
  facts?(section: unknown): Partial<FileFacts>;
  /**
   * The part of the plan that the section becomes. A section with a switch that is off is `undefined`. Default: the plugin with
   * the section as its configuration. `use` is the plugin's address in the plan.
   */
  fromContract?(section: unknown, facts: FileFacts, use: string): PlanPart;
  /** What is wrong between this section and others. Called when the section itself was read without problems. */
  problems?(section: unknown, facts: FileFacts): readonly SectionProblem[];
  /** Warnings: allowed, but probably a mistake. Called when the file has no problems. */
  warnings?(section: unknown, facts: FileFacts): readonly SectionProblem[];
  /** What `vmcp validate` prints about the section, absent or not. */
  overview?(section: unknown, facts: FileFacts): SectionOverview;
  /** The section of a file for a group; `running` are its workloads when the file is to list them. */
  initial?(running: readonly RunningBackend[] | undefined): unknown;
}

/** What `type` says in the section `of` when it means this plugin. `contractKey` holds its options, when it takes any. */
export interface Choice {
  readonly of: string;
  readonly type: string;
  /** Chosen where nothing is said: for backends without a strategy, and in files that `vmcp init` writes. */
  readonly isDefault?: boolean;
  /** It works with the bearer token of the caller. */
  readonly needsCallerToken?: boolean;
  /** How it knows callers. */
  readonly callers?: FileFacts['callers'];
}

/** One plugin of a plan and its configuration. */
export interface PluginUse {
  readonly use: string;
  readonly with?: unknown;
}

/** What a section adds to a plan. */
export interface PlanPart {
  readonly plugins?: readonly PluginUse[];
  /** The store that keeps legacy sessions for all replicas. */
  readonly sessionStorage?: { readonly store: string };
}

/** A sentence about one place; `path` begins at the section. */
export interface SectionProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** One line of `vmcp validate`: `key` in JSON, `label` for people, who read `text` instead of the value where it is given. */
export interface SectionOverview {
  readonly key: string;
  readonly label: string;
  readonly value: string | number;
  readonly text?: string;
}

/** A workload that runs, as a file lists it. */
export interface RunningBackend {
  readonly name: string;
  readonly url: string;
  readonly transport: string;
}

/** What sections of one file know of each other. */
export interface FileFacts {
  /** Name of the gateway. */
  readonly name: string;
  readonly group: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The file has plugins of its own, which may bring tools, callers and step types of any name. */
  readonly hasOwnPlugins: boolean;
  /** The entries of `plugins:`. */
  readonly plugins: readonly PluginUse[];
  /** Backends that the file lists; none when it serves the workloads of a group. */
  readonly backends: readonly ListedBackend[];
  /** Another section brings the backends, which are known only while the gateway runs. */
  readonly discovers?: boolean;
  /** Tools of the gateway itself, by name. */
  readonly ownTools: readonly string[];
  /** How callers are known; absent when a plugin of the file says so. */
  readonly callers?: 'anonymous' | 'local' | 'token';
  /** The tokens of callers that are accepted; absent when callers have none, or a plugin of the file accepts them. */
  readonly tokens?: AcceptedTokens;
  /** Types of the strategies that the file chooses for backends, each once. */
  readonly strategies: readonly string[];
  /** Keys of sections that have problems of their own: what they would say here is missing. */
  readonly unsound: readonly string[];
  /** Names of the identity providers that people sign in to; absent without an authorization server. */
  readonly upstreams?: readonly string[];
  /** The one whose claims policies read; `givenPrimary` when the file names it. */
  readonly primaryUpstream?: string;
  readonly givenPrimary?: string;
  /** Name in the slot `stores` of the store that the file sets up. */
  readonly store?: string;
  /** The same when all replicas share it. */
  readonly sharedStore?: string;
  /** What the names of a backend's tools begin with; absent when names may have no prefix. */
  readonly prefixOf?: (backend: string) => string;
}

/** What a file says of the bearer tokens of callers. */
export interface AcceptedTokens {
  readonly issuer: string;
  readonly audience: string;
  /** URL of the MCP endpoint (RFC 8707), when it is not the audience. */
  readonly resource?: string;
  /** Scopes that clients are told to request. */
  readonly scopes: readonly string[];
}

/** What a file says of one backend. */
export interface ListedBackend {
  readonly name: string;
  /** It is a program: requests to it carry no headers. */
  readonly isProgram: boolean;
  /** It is a remote server, not run by the user. */
  readonly isRemote: boolean;
  /** What the file puts around the strategy of the backend, such as fixed headers. */
  readonly strategyAround?: (inner: StrategyUse) => StrategyUse;
}

/** One use of a strategy in a plan: its name in the slot `authStrategies` and its options. */
export interface StrategyUse {
  readonly type: string;
  readonly options?: unknown;
}
