import type { Installation } from '@toolmgr/plugins/kit/workloads';

/** Label of everything that toolmgr creates in an engine; lists are filtered by it. */
export const MANAGED = 'dev.toolmgr';

/** Label of the containers that outlive the gateway. */
export const LASTING = `${MANAGED}.lasting`;

/** Labels of the installation that created a container: its id, and where it is. */
export const OWNER = `${MANAGED}.owner`;
export const OWNER_PLACE = `${MANAGED}.owner-place`;

/** What the labels of a container say. */
export interface ContainerIdentity {
  readonly owner: Installation;
  readonly workload: string;
  readonly group: string;
  readonly transport: string;
  /** Of one start of the workload; containers of an earlier start are removed. */
  readonly runId: string;
  /** `server`, `session` for a further container of a stdio server, or `network` for the network sidecar. */
  readonly role: 'server' | 'session' | 'network';
  /** Of a container that outlives the gateway: hash of what it was created from. */
  readonly lasting?: string | undefined;
}

/** The labels of a container; those of the user cannot override them. */
export function labelsOf(
  identity: ContainerIdentity,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    ...own,
    [MANAGED]: 'true',
    [OWNER]: identity.owner.id,
    [OWNER_PLACE]: identity.owner.place,
    [`${MANAGED}.name`]: identity.workload,
    [`${MANAGED}.group`]: identity.group,
    [`${MANAGED}.transport`]: identity.transport,
    [`${MANAGED}.run`]: identity.runId,
    [`${MANAGED}.role`]: identity.role,
    ...(identity.lasting === undefined ? {} : { [LASTING]: identity.lasting }),
  };
}
