import { heldWorkload } from '@toolmgr/plugins/kit/workloads';
import { expect, it } from 'vitest';

it('a workload without a process runs until it is stopped, and tells its end', async () => {
  const handle = heldWorkload('far', { transport: 'sse', url: 'http://a.test/sse' });
  expect(handle.state).toMatchObject({ name: 'far', status: 'running', restarts: 0 });
  expect([handle.reach, handle.logs()]).toEqual([{ transport: 'sse', url: 'http://a.test/sse' }, '']);
  await handle.stop(0);
  const stopped = { name: 'far', status: 'stopped', restarts: 0 };
  expect([handle.state, await handle.ended]).toEqual([stopped, stopped]);
});
