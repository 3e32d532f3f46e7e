import type { KubeObject, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import type { McpRemoteProxy } from '../kinds/mcp-remote-proxy.ts';
import type { McpServer } from '../kinds/mcp-server.ts';
import type { McpServerEntry } from '../kinds/mcp-server-entry.ts';
import type { UniqueField } from './unique-values.ts';

/**
 * What a VirtualMCPServer can refer to, all in its namespace. The operator reads its caches and the API; `vmcp validate`
 * reads the manifests of a file.
 */
export interface Related {
  /** An object of a kind; `undefined` when there is none. */
  get<T extends KubeObject>(type: ResourceType<T>, name: string): T | undefined;
  /** Objects whose `spec.groupRef.name` is the group, in any order. */
  members(group: string): GroupMembers;
  /** All VirtualMCPServers with a value of a field, in any order; that of the question is among them. */
  sharing(field: UniqueField, value: string): readonly KubeObject[];
  /** Texts of a config map by key; `undefined` when there is none. @throws when it cannot be read */
  configMap(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Keys of a secret; `undefined` when there is none. @throws when it cannot be read */
  secret(name: string): Promise<Readonly<Record<string, SecretValue>> | undefined>;
}

/** The members of a group by kind. */
export interface GroupMembers {
  readonly servers: readonly McpServer[];
  readonly entries: readonly McpServerEntry[];
  readonly proxies: readonly McpRemoteProxy[];
}

/** What is known of one value of a secret, never the value. */
export interface SecretValue {
  /** sha256 over the uid of the secret, the key and the value: without the uid, a short value could be guessed from it. */
  readonly hash: string;
  readonly bytes: number;
}

/** Settings of the installation. */
export interface Defaults {
  /** Session storage of servers that name none. */
  readonly redis?: { readonly address: string; readonly password?: { readonly name: string; readonly key: string } };
  /** Pull secrets that every pod gets. */
  readonly imagePullSecrets?: readonly string[];
  /** Domain of services. Default: `cluster.local`. */
  readonly clusterDomain?: string;
}
