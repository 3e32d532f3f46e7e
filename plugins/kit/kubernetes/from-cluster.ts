import type { SectionReader } from '@toolmgr/core';
import type { z } from 'zod';
import type { KubeMeta } from './schema.ts';

/** The reader of a section that objects of a cluster have as well. */
export interface ClusterReader extends SectionReader {
  /** What the operator knows of the plugin, in a file that nothing else loads. */
  fromCluster(): Promise<FromCluster>;
}

/** What a plugin says of objects of a cluster. */
export interface FromCluster {
  /** Values of `type` of an MCPExternalAuthConfig that mean this plugin. Each has its settings in the member of its name. */
  readonly externalAuth?: Readonly<Record<string, ExternalAuth>>;
  /** What the section gets in objects that consist of it. */
  readonly rules?: Pick<KubeMeta, 'within' | 'namedSecrets'>;
}

/** How one member of an MCPExternalAuthConfig becomes the options of a strategy. */
export interface ExternalAuth {
  /** Place among the values of `type`, lowest first. */
  readonly order: number;
  /** The member, described. Absent: the type has none. */
  readonly schema?: z.ZodType;
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
