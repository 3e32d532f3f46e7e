import { groupName, workloadName } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';

/** Path parameter of operations on one workload. */
export const nameInPath = z.strictObject({ name: workloadName.describe('name of the workload') });

/** Values of the status of a workload. Source: reference workload-api §4.1; `policy_stopped` is for hosts with a start policy. */
export const WORKLOAD_STATUSES = [
  ...(['starting', 'running', 'stopping', 'stopped', 'removing', 'error', 'unhealthy'] as const),
  ...(['unauthenticated', 'auth_retrying', 'policy_stopped', 'unknown'] as const),
] as const;

/** `WorkloadSummary` of the contract. Every member is there; texts without a value are empty. */
export const workloadSummary = z
  .strictObject({
    name: z.string().describe('name'),
    group: z.string().describe('its group'),
    status: z.enum(WORKLOAD_STATUSES).describe('whether it runs'),
    status_context: z.string().describe('why the status is what it is; empty when there is nothing to say'),
    url: z.string().describe('endpoint for clients; empty while it does not run'),
    port: z.int().describe('port of the endpoint; 0 before the first start'),
    transport_type: z.string().describe('transport of the server: stdio, sse or streamable-http'),
    proxy_mode: z.string().describe('what clients of a stdio server are served: streamable-http or sse'),
    package: z.string().describe('image, package or program; `remote` for a remote server'),
    remote: z.boolean().describe('a remote server'),
    labels: z.record(z.string(), z.string()).describe('labels of the user'),
    tools: z.array(z.string()).describe('names of the tools that are shown; empty when all are'),
    created_at: z.string().describe('RFC 3339 time of its creation; empty when it is not known'),
    started_at: z.string().describe('RFC 3339 time of its start; empty while it does not run'),
  })
  .describe('a workload in a list');

/** One workload of a list. */
export type WorkloadListItem = z.output<typeof workloadSummary>;

/** Names and group of bulk operations: exactly one of them. */
export const bulkBody = z
  .strictObject({
    names: z.array(workloadName).min(1).max(1_000).optional().describe('names of workloads'),
    group: groupName.optional().describe('all workloads of this group'),
  })
  .refine(({ names, group }) => (names === undefined) !== (group === undefined), {
    message: 'expected exactly one of names and group',
  });

/** Answer of a creation or an edit. */
export const namedPort = z.strictObject({
  name: z.string().describe('name of the workload'),
  port: z.int().describe('port of its endpoint; 0 before the first start'),
});

/** The query of listings. */
export const listQuery = z.strictObject({
  all: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('stopped and failed workloads too'),
  group: groupName.optional().describe('only those of this group'),
});
