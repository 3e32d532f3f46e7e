import { operation } from '@toolmgr/plugins/kit/operations';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { UsageError } from '../../../../hosts/shared/usage-error.ts';
import { startManager } from '../../../support/manager.ts';
import { readEvents } from '../../../support/manager-events.ts';
import { until } from '../../../support/until.ts';

const work = operation({
  id: 'startWork',
  method: 'POST',
  path: '/api/v1beta/work',
  tag: 'test',
  summary: 'Start work',
  answers: { 202: { description: 'accepted', schema: z.string() } },
  problems: [],
  async run({ context }) {
    const id = context.jobs.start('six items', [
      {
        name: 'good',
        async run(report) {
          report('pulls an image');
          return { status: 'done' };
        },
      },
      { name: 'bad', run: async () => ({ status: 'failed', detail: 'there is no image' }) },
      {
        name: 'broken',
        run: async () => {
          throw new Error('secret-detail');
        },
      },
      {
        name: 'mistaken',
        run: async () => {
          throw new UsageError('config.yaml is not YAML');
        },
      },
      {
        name: 'full',
        run: async () => {
          throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
            code: 'ENOSPC',
            syscall: 'write',
          });
        },
      },
      {
        name: 'slow',
        run: (_report, signal) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () => resolve({ status: 'failed', detail: 'ended early' })),
          ),
      },
    ]);
    return { status: 202, body: '', headers: { location: `/api/v1beta/operations/${id}` } };
  },
});

it('shows the progress and the outcome of each item, and cancels what still runs', async () => {
  await using manager = await startManager({ operations: [work] });
  await using stream = await readEvents(manager);
  const accepted = await manager.request('POST', '/api/v1beta/work');
  expect([accepted.status, accepted.body]).toEqual([202, '']);
  const at = accepted.headers.get('location') ?? '';
  await until(async () => (await manager.request('GET', at)).body.items[3].status === 'failed');
  const running = await manager.request('GET', at);
  expect(running.body.status).toBe('running');
  expect(running.body.items).toMatchObject([
    { name: 'good', status: 'done', steps: [{ text: 'pulls an image' }] },
    { name: 'bad', status: 'failed', detail: 'there is no image' },
    { name: 'broken', status: 'failed', detail: 'the manager failed; its log has the reason' },
    { name: 'mistaken', status: 'failed', detail: 'config.yaml is not YAML' },
    { name: 'full', status: 'failed', detail: 'the disk is full (ENOSPC: no space left on device, write)' },
    { name: 'slow', status: 'running' },
  ]);
  expect((await manager.request('GET', '/api/v1beta/operations')).body.operations).toHaveLength(1);

  expect((await manager.request('POST', `${at}/cancel`)).status).toBe(202);
  await until(async () => (await manager.request('GET', at)).body.status !== 'running');
  const ended = await manager.request('GET', at);
  expect(ended.body).toMatchObject({ status: 'failed', items: [{}, {}, {}, {}, {}, { status: 'cancelled' }] });
  expect((await manager.request('POST', `${at}/cancel`)).body).toMatchObject({ status: 409, code: 'conflict' });
  await stream.next(({ event, data }) => event === 'operation' && data.status === 'failed');
});

it('says why an operation is unknown', async () => {
  await using manager = await startManager({ operations: [] });
  const { status, body } = await manager.request('GET', '/api/v1beta/operations/6f1c1f0e-4a8e-4a0e-9d0c-3f6a0c1d2b3c');
  expect([status, body.code, body.detail]).toEqual([
    404,
    'not_found',
    'there is no such operation: ids are forgotten when the manager restarts, and after 200 newer ones',
  ]);
});
