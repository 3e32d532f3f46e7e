import type { VirtualMcpServer } from '../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import { fileObjects } from '../../../../hosts/operator/manifests/file-objects.ts';
import { readManifests } from '../../../../hosts/operator/manifests/read-manifests.ts';
import type { Defaults } from '../../../../hosts/operator/resolve/related.ts';
import type { PodInputs, Resolution } from '../../../../hosts/operator/resolve/resolution.ts';
import { resolveServer } from '../../../../hosts/operator/resolve/resolve-server.ts';

/** Resolves the VirtualMCPServer of a YAML text in the namespace `team`. What the text does not have does not exist. */
export async function resolveYaml(text: string, defaults: Defaults = {}): Promise<Resolution> {
  const objects = readManifests(text, 'objects.yaml').map(({ object }) => ({
    ...object,
    metadata: { namespace: 'team', ...object.metadata },
  }));
  const server = objects.find(({ kind }) => kind === 'VirtualMCPServer') as VirtualMcpServer | undefined;
  if (server === undefined) throw new Error('there is no VirtualMCPServer');
  return resolveServer(server, fileObjects(objects, { namespace: 'team', isComplete: true }), defaults);
}

/** One document; `body` has no indentation. */
export function object(kind: string, name: string, body: string): string {
  const apiVersion = kind === 'Secret' || kind === 'ConfigMap' ? 'v1' : 'toolmgr.dev/v1beta1';
  return `---\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: ${name} }\n${body}\n`;
}

/** A server of the group `group`, which exists, with a spec in flow style after the required fields. */
export function server(spec = '', incomingAuth = '{ type: anonymous }'): string {
  const rest = spec === '' ? '' : `, ${spec}`;
  return `${object('VirtualMCPServer', 'tools', `spec: { groupRef: { name: group }, incomingAuth: ${incomingAuth}${rest} }`)}${GROUP}`;
}

export const GROUP = object('MCPGroup', 'group', 'spec: {}');

/** An entry of the group. */
export function entry(name: string, more = ''): string {
  const rest = more === '' ? '' : `, ${more}`;
  return object(
    'MCPServerEntry',
    name,
    `spec: { groupRef: { name: group }, remoteUrl: "https://${name}.example.com/mcp", transport: streamable-http${rest} }`,
  );
}

/** A secret with one key per name. */
export function secret(name: string, values: Readonly<Record<string, string>>): string {
  return object('Secret', name, `stringData: ${JSON.stringify(values)}`);
}

/** `TYPE=STATUS/REASON` of all conditions. */
export function conditions({ conditions: all }: Resolution): readonly string[] {
  return all.map(({ type, status, reason }) => `${type}=${status}/${reason}`);
}

/** The message of a condition; empty without it. */
export function messageOf({ conditions: all }: Resolution, type: string): string {
  return all.find((condition) => condition.type === type)?.message ?? '';
}

/** What pods need. Throws with the outcome when nothing was made. */
export function podOf({ pod, outcome, conditions: all }: Resolution): PodInputs {
  if (pod !== undefined) return pod;
  throw new Error(`${JSON.stringify(outcome)} ${JSON.stringify(all.filter(({ status }) => status !== 'True'))}`);
}
