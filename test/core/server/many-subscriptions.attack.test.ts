import { setImmediate } from 'node:timers/promises';
import { definePlugin, type JsonObject } from '@toolmgr/core';
import { type FakeServer, fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { legacySession, modernListen } from '../../support/gateway-streams.ts';

it('many subscriptions in one request are decided in turns, so that others are answered between them', async () => {
  let turn = 0;
  const decided = new Map<number, number>();
  const policy = definePlugin({
    address: 'test/policy',
    config: z.strictObject({}),
    apply: ({ hooks }) =>
      hooks.authorize.tap('test/policy', ({ name }) => {
        decided.set(turn, (decided.get(turn) ?? 0) + 1);
        return name.endsWith('1') ? { refused: true, status: 403, reason: 'not for you' } : undefined;
      }),
  });
  const server = fakeServer();
  const uris = Array.from({ length: 1_000 }, (_, n) => `memo://${n}`);
  for (const uri of uris) server.resource(uri, 'x');
  await using kit = await testGateway({ plugins: [policy], backends: { far: server } });
  await kit.gateway.settled();
  const ended = new AbortController();
  const turning = (async () => {
    for (; !ended.signal.aborted; turn++) await setImmediate();
  })();
  const listen = await modernListen(kit.gateway, { resourceSubscriptions: uris });
  const accepted = (await listen.next())?.message.params?.notifications as { resourceSubscriptions: string[] };
  ended.abort();
  await turning;
  await listen.close();
  expect(accepted.resourceSubscriptions).toEqual(uris.filter((uri) => !uri.endsWith('1')));
  expect(Math.max(...decided.values())).toBeLessThanOrEqual(64);
  expect(server.received.filter(({ method }) => method === 'subscriptions/listen').length).toBeLessThan(5);
});

describe('the subscriptions of sessions', () => {
  const gatewayOf = (server: FakeServer, memoryBudgetBytes: number) =>
    testGateway({ backends: { far: server }, plan: { limits: { memoryBudgetBytes } } });
  /** Subscribes until it is refused. */
  async function fill(session: Awaited<ReturnType<typeof legacySession>>, uriOf: (n: number) => string, most: number) {
    for (let n = 0; n < most; n++) {
      const { error } = await session.request('resources/subscribe', { uri: uriOf(n) });
      if (error !== undefined) return { count: n, error: error as JsonObject };
    }
    return { count: most, error: undefined };
  }

  it('have URIs of a bounded length together', async () => {
    await using kit = await gatewayOf(fakeServer(['2026-07-28']).template('memo://{+name}'), 0);
    await kit.gateway.settled();
    const session = await legacySession(kit.gateway);
    const long = await fill(session, (n) => `memo://${'x'.repeat(8_000)}${n}`, 100);
    expect(long).toMatchObject({
      count: 32,
      error: { code: -32602, message: expect.stringContaining('262144 bytes') },
    });
    const client = await kit.client();
    const resourceSubscriptions = Array.from({ length: 100 }, (_, n) => `memo://${'x'.repeat(8_000)}${n}`);
    const { error } = await client.request('subscriptions/listen', { notifications: { resourceSubscriptions } });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('262144 bytes') });
  });

  it('take a bounded part of the memory budget for all sessions of a caller, and free it with the session', async () => {
    await using kit = await gatewayOf(fakeServer(['2025-11-25']).template('memo://{+name}'), 4 * 1024 * 1024);
    await kit.gateway.settled();
    const uriOf = (n: number): string => `memo://${n}`;
    const [one, two] = [await legacySession(kit.gateway), await legacySession(kit.gateway)];
    const first = await fill(one, uriOf, 200);
    const second = await fill(two, uriOf, 200);
    expect(first.count).toBe(200);
    const full = { message: expect.stringContaining('no memory'), data: { retryAfterSeconds: 1 } };
    expect(second).toMatchObject({ count: 53, error: full });
    await one.end();
    expect(await fill(two, (n) => `memo://more/${n}`, 100)).toMatchObject({ count: 100, error: undefined });
  });
});
