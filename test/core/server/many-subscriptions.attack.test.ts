import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { definePlugin } from '../../../core/extension/plugin.ts';
import { fakeServer, testGateway } from '../../../core/testing/index.ts';
import { modernListen } from '../../support/gateway-streams.ts';

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
