import { join } from 'node:path';
import { operation } from '@toolmgr/plugins/kit/operations';
import { createGroup } from '@toolmgr/plugins/kit/workloads';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createEventHub } from '../../../../hosts/manager/events/event-hub.ts';
import { startManager } from '../../../support/manager.ts';
import { readEvents } from '../../../support/manager-events.ts';
import { proves } from '../../../support/proves.ts';
import { toolmgr } from '../../run/toolmgr.ts';

const TELLS = join(import.meta.dirname, '../../run/servers/tells.mjs');

const publishes = operation({
  id: 'publish',
  method: 'POST',
  path: '/api/v1beta/published/{name}',
  tag: 'test',
  summary: 'Publish an event',
  params: z.strictObject({ name: z.string() }),
  answers: { 204: { description: 'published' } },
  problems: [],
  async run({ path, context }) {
    context.publish({ type: 'client', name: path.name });
    return { status: 204 };
  },
});

proves('choice.manager.events', 'sends what operations publish, and what was missed after a reconnect', async () => {
  await using manager = await startManager({ operations: [publishes] });
  const first = await readEvents(manager);
  await manager.request('POST', '/api/v1beta/published/one');
  const one = await first.next(({ data }) => data.name === 'one');
  expect(one).toMatchObject({ event: 'client', data: { type: 'client', name: 'one' } });
  await first[Symbol.asyncDispose]();
  await manager.request('POST', '/api/v1beta/published/two');

  await using again = await readEvents(manager, one.id);
  await again.next(({ data }) => data.name === 'two');
  expect(again.events.map(({ data }) => data.name)).toEqual(['two']);

  await using stranger = await readEvents(manager, 'another-7');
  expect((await stranger.next(() => true)).event).toBe('missed');
});

it('publishes what the command line changes', async () => {
  await using manager = await startManager({ operations: [] });
  await using stream = await readEvents(manager);
  await createGroup(manager.state, 'tools');
  expect((await stream.next(({ event }) => event === 'group')).data.name).toBe('tools');
  const has = (status: string) => stream.next(({ data }) => data.name === 'one' && data.status === status, 30_000);
  await toolmgr(manager.state, 'run', '--name', 'one', process.execPath, '--', TELLS);
  await has('running');
  await toolmgr(manager.state, 'rm', '--force', 'one');
  await has('removed');
});

it('ends a reader that does not take its events, and keeps a bounded number', async () => {
  const hub = createEventHub('one', { kept: 3, waiting: 5, readers: 2 } as never);
  const { signal } = new AbortController();
  const slow = hub.subscribe(undefined, signal);
  for (let n = 0; n < 6; n += 1) hub.publish({ type: 'skill', name: String(n) });
  expect(typeof (await slow?.next(1))).toBe('symbol');
  expect(hub.readers).toBe(0);
  const late = hub.subscribe('one-2', signal);
  expect(late?.missed).toBe(true);
  const kept = (await late?.next(1)) as readonly { readonly id: number }[];
  expect(kept.map(({ id }) => id)).toEqual([4, 5, 6]);
  hub.subscribe(undefined, signal);
  expect(hub.subscribe(undefined, signal)).toBeUndefined();
});
