import type { SectionReader } from '@toolmgr/core';

/** The reader of a strategy of `outgoingAuth` that an MCPExternalAuthConfig can name as well. */
export interface ClusterStrategyReader extends SectionReader {
  /** Values of `type` of an MCPExternalAuthConfig that become this strategy. Each has its settings in the member of its name. */
  readonly fromCluster: Readonly<Record<string, ExternalAuth>>;
}

/** How one member of an MCPExternalAuthConfig becomes the options of a strategy. */
export interface ExternalAuth {
  /** References to secrets in the member, with the prefix of the variable that holds the value. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Why there is no strategy. Asked before any secret is read. */
  refuse?(given: unknown, facts: ExternalAuthFacts): ExternalAuthRefusal | undefined;
  /**
   * The options. `given` is the member without its references to secrets, `names` has the variables by reference. Default:
   * the member as it is.
   */
  options?(given: unknown, names: Readonly<Partial<Record<string, string>>>): Readonly<Record<string, unknown>>;
}

/** What a conversion knows of the server that uses the configuration. */
export interface ExternalAuthFacts {
  /** Names of the upstream providers, empty without an authorization server. */
  readonly upstreams: readonly string[];
  /** Whether the vmcp file allows a strategy that is refused by default. */
  readonly isAllowed: boolean;
}

/** Why there is no strategy. Reasons: reference of conditions. */
export interface ExternalAuthRefusal {
  readonly reason: 'ConversionFailed' | 'AmbiguousSubjectProvider' | 'EnterpriseRequired';
  readonly message: string;
}
