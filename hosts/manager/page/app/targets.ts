import { call } from './calls.ts';
import type { Offer } from './offer.ts';

/** An MCP endpoint of the host. */
export interface Target {
  /** In links: `groups/default`. */
  readonly id: string;
  readonly label: string;
  readonly mcp: string;
  /** Where the host says what clients see. */
  readonly view: string;
}

/** The endpoints of the host: the only one, or one for each group and each running workload. */
export async function listTargets({ endpoint }: Offer, signal: AbortSignal): Promise<readonly Target[]> {
  if (endpoint !== undefined) return [{ id: 'endpoint', label: endpoint.mcp, mcp: endpoint.mcp, view: endpoint.view }];
  const [{ groups }, { workloads }] = await Promise.all([
    call('listGroups', { signal }),
    call('listWorkloads', { signal }),
  ]);
  return [
    ...(groups ?? []).map(({ name }) => targetOf('groups', name, `Group ${name}`)),
    ...(workloads ?? []).map(({ name }) => targetOf('workloads', name, name)),
  ];
}

function targetOf(kind: string, name: string, label: string): Target {
  const id = targetId(kind, name);
  return { id, label, mcp: `/mcp/${id}`, view: `/api/v1beta/endpoints/${id}` };
}

/** How links name an endpoint; `kind` is `groups` or `workloads`. */
export function targetId(kind: string, name: string): string {
  return `${kind}/${encodeURIComponent(name)}`;
}

/** The target of a link; the first one when the link names none. */
export function chosenTarget(targets: readonly Target[], id: string | null): Target | undefined {
  return targets.find((target) => target.id === id) ?? targets[0];
}
