import { type Operation, operation, problem } from '@toolmgr/plugins/kit/operations';
import { readWorkload, runConfig } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { groupsOf, unknownGroup } from '../../workloads/planning/groups.ts';
import type { WorkloadDeps } from './deps.ts';
import { detailOf, etagOf, listItemOf, workloadDetail } from './detail.ts';
import { EXAMPLE_DETAIL, EXAMPLE_EXPORT, EXAMPLE_SUMMARY } from './examples.ts';
import { exportedConfig } from './exported-config.ts';
import { noWorkload } from './refusals.ts';
import { listQuery, nameInPath, WORKLOAD_STATUSES, workloadSummary } from './shapes.ts';

/** Statuses of the default list. Source: reference workload-api §4.2. */
const RUNNING: ReadonlySet<string> = new Set(['running', 'auth_retrying']);

const TAG = 'workloads';

/** Operations that only read. */
export function listingOperations({ state, records }: WorkloadDeps): readonly Operation[] {
  return [
    operation({
      id: 'listWorkloads',
      method: 'GET',
      path: '/api/v1beta/workloads',
      tag: TAG,
      summary: 'List all workloads',
      description: 'Running workloads, ordered by name; with `all` every workload.',
      query: listQuery,
      answers: {
        200: {
          description: 'the workloads',
          schema: z.strictObject({ workloads: z.array(workloadSummary) }),
          example: { workloads: [EXAMPLE_SUMMARY] },
        },
      },
      problems: ['not_found'],
      tool: { name: 'list_workloads', readOnly: true, idempotent: true },
      async run({ query: { all, group } }) {
        const found = await records();
        if (group !== undefined) {
          const groups = await groupsOf(state, found);
          if (!groups.some(({ name }) => name === group)) return problem('not_found', unknownGroup(group, groups));
        }
        const ofGroup = found.filter(({ config }) => group === undefined || config?.group === group);
        const shown = ofGroup.filter(({ status }) => all || RUNNING.has(status.status));
        return { status: 200, body: { workloads: shown.map(listItemOf) } };
      },
    }),
    operation({
      id: 'getWorkload',
      method: 'GET',
      path: '/api/v1beta/workloads/{name}',
      tag: TAG,
      summary: 'Get workload details',
      description: 'The configuration, as an edit takes it. Values that may be secret are hidden as `[secret]`.',
      params: nameInPath,
      answers: {
        200: {
          description: 'the workload',
          schema: workloadDetail,
          example: EXAMPLE_DETAIL,
          headers: { ETag: 'entity tag for If-Match of an edit' },
        },
      },
      problems: ['not_found', 'unprocessable'],
      tool: { name: 'get_workload', readOnly: true, idempotent: true },
      async run({ path: { name } }) {
        const record = await readWorkload(state, name);
        if (record === undefined) return noWorkload(state, name);
        if (record.config === undefined) return unreadable(record.status.message);
        const body = detailOf(record.config, record.status.port);
        return { status: 200, body, headers: { ETag: etagOf(record.config) } };
      },
    }),
    operation({
      id: 'exportWorkload',
      method: 'GET',
      path: '/api/v1beta/workloads/{name}/export',
      tag: TAG,
      summary: 'Export workload configuration',
      description: 'The run configuration, for an import and for `toolmgr run --from-config`. Secrets are references.',
      params: nameInPath,
      answers: {
        200: { description: 'the run configuration', schema: runConfig, example: EXAMPLE_EXPORT },
      },
      problems: ['not_found', 'unprocessable'],
      async run({ path: { name } }) {
        const record = await readWorkload(state, name);
        if (record === undefined) return noWorkload(state, name);
        if (record.config === undefined) return unreadable(record.status.message);
        return { status: 200, body: exportedConfig(record.config) };
      },
    }),
    operation({
      id: 'getWorkloadStatus',
      method: 'GET',
      path: '/api/v1beta/workloads/{name}/status',
      tag: TAG,
      summary: 'Get the status of a workload',
      params: nameInPath,
      answers: {
        200: {
          description: 'the status',
          schema: z.strictObject({ status: z.enum(WORKLOAD_STATUSES).describe('whether it runs') }),
          example: { status: 'running' },
        },
      },
      problems: ['not_found'],
      async run({ path: { name } }) {
        const record = await readWorkload(state, name);
        if (record === undefined) return noWorkload(state, name);
        return { status: 200, body: { status: record.status.status } };
      },
    }),
  ];
}

function unreadable(why: string | undefined) {
  return problem('unprocessable', why ?? 'its configuration cannot be read');
}
