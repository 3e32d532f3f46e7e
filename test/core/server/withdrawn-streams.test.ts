import type { Caller } from '@toolmgr/core';
import { expect, it, vi } from 'vitest';
import { createWithdrawnStreams } from '../../../core/server/withdrawn-streams.ts';
import { callerNamed } from '../../support/fake-gateway.ts';
import { modernRequest, openEndpoint, openSession, postStream, readEvents } from '../../support/open-endpoint.ts';
import { openSseSession } from '../../support/sse-client.ts';
import { until } from '../../support/until.ts';

const CALLER: Caller = { issuer: 'https://id.example', subject: 'ada', key: 'k', claims: {} };

it('ends a stream once its token is withdrawn, and keeps those that are closed or cannot be checked', async () => {
  vi.useFakeTimers();
  try {
    const streams = createWithdrawnStreams(1_000);
    const asked: string[] = [];
    const ended: string[] = [];
    let isWithdrawn = false;
    const add = (name: string, isOpen: () => boolean, answer: () => boolean | Promise<boolean>): void => {
      const caller = { ...CALLER, isWithdrawn: () => asked.push(name) > 0 && answer() };
      streams.watch(caller, { isOpen, end: () => void ended.push(name) });
    };
    let isOpen = true;
    add(
      'withdrawn',
      () => true,
      () => isWithdrawn,
    );
    add(
      'closed',
      () => isOpen,
      async () => isWithdrawn,
    );
    add(
      'unknown',
      () => true,
      () => Promise.reject(new Error('the storage is away')),
    );
    streams.watch(CALLER, { isOpen: () => true, end: () => void ended.push('of another issuer') });
    await vi.advanceTimersByTimeAsync(1_000);
    expect([asked, ended]).toEqual([['withdrawn', 'closed', 'unknown'], []]);
    isWithdrawn = true;
    isOpen = false;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(ended).toEqual(['withdrawn']);
    expect(asked).toEqual(['withdrawn', 'closed', 'unknown', 'withdrawn', 'unknown', 'unknown']);
    streams.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toHaveLength(6);
  } finally {
    vi.useRealTimers();
  }
});

it('ends the streams of all transports, which have no further request that would be refused', async () => {
  await using open = await openEndpoint({
    limits: { keepAliveMs: 100 },
    sse: { path: '/sse', messagesPath: '/messages' },
  });
  let isWithdrawn = false;
  open.service.identifyBy = () => ({ ...callerNamed('ada'), isWithdrawn: () => isWithdrawn });
  const session = await openSession(open.url);
  const own = await session.get();
  const { body, headers } = modernRequest('subscriptions/listen', { notifications: {} }, { id: 's' });
  const listened = readEvents(await postStream(open.url, body, headers));
  using sse = await openSseSession(`${open.origin}/sse`);
  expect(open.endpoint.counts().streams).toBe(3);
  isWithdrawn = true;
  expect((await own.rest()).length).toBeGreaterThanOrEqual(0); // returns at its end
  expect((await listened.rest()).at(-1)?.message).toMatchObject({ id: 's', result: { resultType: 'complete' } });
  await until(() => sse.hasEnded());
  await until(() => open.endpoint.counts().streams === 0);
});
