/** Label of everything that toolmgr creates in an engine; lists are filtered by it. */
export const MANAGED = 'dev.toolmgr';

/** What the labels of a container say. */
export interface ContainerIdentity {
  readonly workload: string;
  readonly group: string;
  readonly transport: string;
  /** Of one start of the workload; containers of an earlier start are removed. */
  readonly runId: string;
  /** `server`, `session` for a further container of a stdio server, or `network` for the network sidecar. */
  readonly role: 'server' | 'session' | 'network';
}

/** The labels of a container; those of the user cannot override them. */
export function labelsOf(
  identity: ContainerIdentity,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    ...own,
    [MANAGED]: 'true',
    [`${MANAGED}.name`]: identity.workload,
    [`${MANAGED}.group`]: identity.group,
    [`${MANAGED}.transport`]: identity.transport,
    [`${MANAGED}.run`]: identity.runId,
    [`${MANAGED}.role`]: identity.role,
  };
}
