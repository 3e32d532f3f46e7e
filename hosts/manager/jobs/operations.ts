import { type Operation, operation, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import type { JobTable } from './jobs.ts';

const instant = z.iso.datetime();

const shownJob = z
  .strictObject({
    id: z.uuid().describe('identifies the operation'),
    title: z.string().describe('what is done'),
    status: z.enum(['running', 'succeeded', 'failed', 'cancelled']).describe('failed when any item failed'),
    started_at: instant,
    ended_at: instant.optional(),
    items: z.array(
      z.strictObject({
        name: z.string().describe('e.g. the name of a workload'),
        status: z.enum(['waiting', 'running', 'done', 'unchanged', 'failed', 'cancelled']),
        steps: z
          .array(z.strictObject({ at: instant, text: z.string() }))
          .describe('what was done so far, oldest first; the last 100'),
        detail: z.string().optional().describe('why it failed, or what was done'),
      }),
    ),
  })
  .meta({ id: 'LongOperation', description: 'work that continues after its request was answered' });

const EXAMPLE = {
  id: '6f1c1f0e-4a8e-4a0e-9d0c-3f6a0c1d2b3c',
  title: 'restart 1 workload',
  status: 'running',
  started_at: '2026-08-01T10:00:00.000Z',
  items: [
    {
      name: 'everything',
      status: 'running',
      steps: [{ at: '2026-08-01T10:00:00.100Z', text: 'stops everything' }],
    },
  ],
};

const params = z.strictObject({ id: z.string().min(1).max(64).describe('id from the Location header of a 202') });

/** Operations on long work: what `Location` of a 202 points to. */
export function jobOperations(jobs: JobTable): readonly Operation[] {
  const unknown = () =>
    problem(
      'not_found',
      'there is no such operation: ids are forgotten when the manager restarts, and after 200 newer ones',
    );
  return [
    operation({
      id: 'listOperations',
      method: 'GET',
      path: '/api/v1beta/operations',
      tag: 'operations',
      summary: 'List long operations, newest first',
      answers: {
        200: {
          description: 'the operations of this process of the manager',
          schema: z.strictObject({ operations: z.array(shownJob) }),
          example: { operations: [EXAMPLE] },
        },
      },
      problems: [],
      async run() {
        return { status: 200, body: { operations: jobs.list() } };
      },
    }),
    operation({
      id: 'getOperation',
      method: 'GET',
      path: '/api/v1beta/operations/{id}',
      tag: 'operations',
      summary: 'Get the progress and the outcome of a long operation',
      params,
      answers: { 200: { description: 'the operation', schema: shownJob, example: EXAMPLE } },
      problems: ['not_found'],
      tool: { name: 'get_operation', readOnly: true, idempotent: true },
      async run({ path: { id } }) {
        const job = jobs.get(id);
        return job === undefined ? unknown() : { status: 200, body: job };
      },
    }),
    operation({
      id: 'cancelOperation',
      method: 'POST',
      path: '/api/v1beta/operations/{id}/cancel',
      tag: 'operations',
      summary: 'Cancel a long operation',
      description: 'Items that wait are not begun; items that run are asked to end. What is done stays done.',
      params,
      answers: { 202: { description: 'the operation ends soon', schema: z.string(), example: '' } },
      problems: ['not_found', 'conflict'],
      tool: { name: 'cancel_operation', idempotent: true },
      async run({ path: { id } }) {
        const outcome = jobs.cancel(id);
        if (outcome === 'unknown') return unknown();
        if (outcome === 'ended') return problem('conflict', 'the operation has ended already');
        return { status: 202, body: '', headers: { location: `/api/v1beta/operations/${id}` } };
      },
    }),
  ];
}
