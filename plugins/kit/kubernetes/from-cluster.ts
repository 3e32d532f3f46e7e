import type { SectionReader } from '@toolmgr/core';
import type { z } from 'zod';
import type { Condition } from './object.ts';
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
  /** Kinds of objects that hold settings of the plugin. */
  readonly kinds?: Readonly<Record<string, SettingsKind>>;
  /** How the section of a VirtualMCPServer becomes that of its file. */
  readonly section?: SectionInCluster;
  /** Conditions that tell about a sound section, for people. */
  conditions?(section: unknown): readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[];
  /** Why `spec.config` of a VirtualMCPServer must not have the section. */
  readonly forbidden?: string;
  /** What the section gets in objects that consist of it, or of one item of it. */
  readonly rules?: Pick<KubeMeta, 'within' | 'namedSecrets'>;
}

/** How the section in `spec.config` of a VirtualMCPServer becomes that of the file of its pods. */
export interface SectionInCluster {
  /** Its checks count before those of callers and stores. */
  readonly isFirst?: true;
  /** The section, if there is one. `undefined`: a check failed, or something is not ready. */
  of(written: unknown, server: ClusterServer): Promise<{ readonly section?: unknown } | undefined>;
}

/** A VirtualMCPServer as a plugin sees it. */
export interface ClusterServer extends ClusterFindings {
  readonly spec: Readonly<Record<string, unknown>>;
  /** Another object of the namespace with its checked spec. `by`: the field that names it, for the message. */
  find(kind: string, name: string, by: string): Promise<FoundObject>;
}

/** An object, or why it cannot be used. */
export type FoundObject =
  | { readonly is: 'valid'; readonly spec: unknown; readonly status: unknown }
  | { readonly is: 'missing' | 'invalid'; readonly message: string };

/** How a check tells what it found. */
export interface ClusterFindings {
  /** Reports a state that does not stop anything. */
  tell(type: string, status: Condition['status'], reason: string, message: string): void;
  /** Reports a failed check: the condition is False. `event`: reason of a Warning event, once per transition. */
  fail(type: string, reason: string, message: string, event?: string): void;
  /** Reports something that is not ready yet: the condition is False. */
  wait(type: string, reason: string, message: string): void;
  /** A Warning event, once per generation. */
  warn(reason: string, message: string): void;
}

/** How one member of an MCPExternalAuthConfig becomes the options of a strategy. */
export interface ExternalAuth {
  /** Place among the values of `type`, lowest first. */
  readonly order: number;
  /** The member, described. Absent: the type has none. */
  readonly schema?: z.ZodType;
  /** References to secrets in the member, with the prefix of the variable that holds the value. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The strategy uses the token of the caller in a way that `disableUpstreamTokenInjection` excludes. Source: vmcp spec §7. */
  readonly needsInjection?: true;
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

/** A kind of objects that hold settings of a plugin. */
export interface SettingsKind {
  /** The spec of the kind. */
  readonly spec: z.ZodType;
  /** How a reference of a server to an object is told. */
  readonly reference: ReferenceWords;
  /** The section that an object becomes for one server that refers to it. Members may be `undefined`. */
  section(spec: unknown, use: ObjectUse, pod: PodReferences): Promise<ReadSettings>;
}

/** How the outcome of a reference is told. */
export interface ReferenceWords {
  /** The field with the reference. */
  readonly by: string;
  readonly condition: string;
  /** Reasons of the condition: there is no such object, it has a problem, it is valid. */
  readonly reasons: readonly [string, string, string];
  /** Condition, reason and event of problems of what a valid object refers to. Default: the object has a problem. */
  readonly secrets?: readonly [string, string, string];
}

/** A section, a problem of what the object refers to, or a problem of the object itself. */
export type ReadSettings =
  | { readonly section: Readonly<Record<string, unknown>> }
  | { readonly problem: string }
  | { readonly invalid: string };

/** How a server refers to an object. */
export interface ObjectUse {
  /** Name of the server. */
  readonly server: string;
  /** URL of its Service, without the path of the endpoint. */
  readonly url: string;
  /** Namespace of both. */
  readonly namespace: string;
  /** The reference, with what else it says. */
  readonly ref: unknown;
}

/** What a pod can be given by reference. `by` is the place of the reference, for messages; a problem says why it cannot. */
export interface PodReferences {
  /** A variable with the value of a secret, named by a prefix and what it is for. */
  secretEnv(prefix: string, object: string, key: ObjectField, by: string): Promise<EnvName>;
  /** The same under a fixed name. */
  fixedEnv(name: string, key: ObjectField, by: string): Promise<EnvName>;
  /** A file with CA certificates of a config map in a folder. */
  caFile(
    folder: string,
    key: ObjectField,
    by: string,
  ): Promise<{ readonly path: string } | { readonly problem: string }>;
}

/** A key of a secret or a config map. */
export interface ObjectField {
  readonly name: string;
  readonly key: string;
}

/** The name of a variable, or why there is none. */
export type EnvName = { readonly name: string } | { readonly problem: string };
