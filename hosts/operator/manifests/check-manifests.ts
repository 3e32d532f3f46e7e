import { type Catalogue, nearest } from '@toolmgr/core';
import { type KubeObject, keyOf } from '@toolmgr/plugins/kit/kubernetes';
import { createManifestCheck } from '../crd/check-manifest.ts';
import { type VirtualMcpServer, virtualMcpServer } from '../kinds/virtual-mcp-server.ts';
import { type EffectiveBackend, type Outcome, type ResolvedCondition, stopsServer } from '../resolve/resolution.ts';
import { resolveServer } from '../resolve/resolve-server.ts';
import { fileObjects } from './file-objects.ts';
import { type Manifest, readManifests } from './read-manifests.ts';
import { sharedProblems } from './shared-problems.ts';
import { workloadProblems } from './workload-problems.ts';

/** What a cluster would say to the objects of a file. */
export interface ManifestReport {
  /** No object is refused, and no VirtualMCPServer has an error that the file shows. */
  readonly isValid: boolean;
  readonly objects: number;
  /** Why the API server would refuse objects, or the operator call them not valid: `file:line: Kind name: path: message`. */
  readonly problems: readonly string[];
  readonly servers: readonly ServerReport[];
}

/** What the operator would say to one VirtualMCPServer. */
export interface ServerReport {
  readonly name: string;
  readonly namespace: string;
  readonly outcome: Outcome;
  readonly conditions: readonly (ResolvedCondition & { readonly isUnchecked?: true })[];
  readonly events: readonly string[];
  readonly backends: readonly EffectiveBackend[];
  /** Objects that the file refers to and does not have, as `Kind name`. */
  readonly notChecked: readonly string[];
  /** Which of these are probably misspelled: the file has an object of the kind with a similar name. */
  readonly hints: readonly string[];
}

/**
 * Checks manifests as the API server and the operator do, without a cluster.
 * @throws GatewayFault PLAN_INVALID when the text is no YAML with objects
 */
export async function checkManifests(text: string, file: string, catalogue: Catalogue): Promise<ManifestReport> {
  const manifests = readManifests(text, file);
  const objects = manifests.map(({ object }) => object);
  const check = await createManifestCheck(catalogue);
  const problems = [...duplicates(manifests, file)];
  const refused = new Set<KubeObject>();
  for (const { object, line } of manifests) {
    const refusals = check(object).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    if (refusals.length > 0) refused.add(object);
    const found =
      refusals.length > 0
        ? refusals
        : [...(await sharedProblems(object, catalogue)), ...(await workloadProblems(object, objects))];
    problems.push(...found.map((problem) => `${file}:${line}: ${titleOf(object)}: ${problem}`));
  }
  const servers: ServerReport[] = [];
  for (const object of objects) {
    if (object.kind !== virtualMcpServer.kind || refused.has(object)) continue;
    servers.push(await reportServer(object as VirtualMcpServer, objects));
  }
  const isValid = problems.length === 0 && servers.every(({ conditions }) => !conditions.some(isError));
  return { isValid, objects: manifests.length, problems, servers };
}

function isError(condition: ServerReport['conditions'][number]): boolean {
  return stopsServer(condition) && condition.isUnchecked !== true;
}

async function reportServer(server: VirtualMcpServer, objects: readonly KubeObject[]): Promise<ServerReport> {
  const { name, namespace = 'default' } = server.metadata;
  const related = fileObjects(objects, { namespace });
  const found = await resolveServer({ ...server, metadata: { ...server.metadata, namespace } }, related);
  const notChecked = related.notInFile();
  const absent = notChecked.map((each) => `there is no ${each.replace(/^ConfigMap /, 'config map ')}`);
  const group = `MCPGroup ${server.spec.groupRef.name}`;
  return {
    name,
    namespace,
    outcome: found.outcome,
    conditions: found.conditions.map((condition) => {
      if (condition.type === 'GroupRefValidated' && notChecked.includes(group)) {
        return { ...condition, message: `spec.groupRef: there is no ${group} in the file`, isUnchecked: true };
      }
      const isUnchecked = condition.status === 'False' && absent.some((text) => condition.message.includes(text));
      return isUnchecked ? { ...condition, isUnchecked } : condition;
    }),
    events: found.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
    backends: found.effective,
    notChecked,
    hints: notChecked.flatMap((reference) => hintOf(reference, namespace, objects)),
  };
}

function hintOf(reference: string, namespace: string, objects: readonly KubeObject[]): readonly string[] {
  const [kind, name = ''] = reference.split(' ');
  const names = objects
    .filter((object) => object.kind === kind && (object.metadata.namespace ?? namespace) === namespace)
    .map(({ metadata }) => metadata.name);
  const similar = nearest(name, names);
  return similar === undefined ? [] : [`${reference}: did you mean "${similar}", which is in the file?`];
}

function duplicates(manifests: readonly Manifest[], file: string): readonly string[] {
  const seen = new Map<string, number>();
  return manifests.flatMap(({ object, line }) => {
    const { namespace, name } = keyOf(object);
    const id = `${object.apiVersion} ${object.kind} ${namespace}/${name}`;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, line);
    return first === undefined ? [] : [`${file}:${line}: ${titleOf(object)}: is a duplicate of line ${first}`];
  });
}

function titleOf({ kind, metadata: { name } }: KubeObject): string {
  return `${kind} ${name}`;
}
