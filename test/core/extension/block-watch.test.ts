import { definePlugin } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';
import telemetry from '../../../plugins/telemetry/index.ts';
import { prometheusSamples } from '../../support/prometheus-text.ts';
import { until } from '../../support/until.ts';

const ADDRESS = 'testing/blocks';

/** CPU time, so that a busy machine does not make it shorter for the watch. */
function block(ms: number): void {
  const from = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(from);
    if (user + system >= ms * 1000) return;
  }
}

function blocking(tap: Parameters<typeof definePlugin>[0]['apply']) {
  return definePlugin({ address: ADDRESS, config: z.strictObject({}), apply: tap });
}

const backends = () => ({ b: fakeServer().tool('echo', 'done') });
const call = { name: 'echo', arguments: { secret: 's3cret' } };

it('names the plugin, hook, method and tool of a tap that blocks, in the log, in the metrics and in the state', async () => {
  const plugin = blocking(({ hooks }) => {
    hooks.authorize.tap(ADDRESS, () => {
      block(200);
      return undefined;
    });
    hooks.wrapDispatch.tap(ADDRESS, (dispatch) => (given) => {
      block(150);
      return dispatch(given);
    });
    hooks.callSettled.tap(ADDRESS, () => {});
  });
  await using kit = await testGateway({
    backends: backends(),
    plugins: [plugin, telemetry],
    plan: { plugins: [{ use: ADDRESS }, { use: 'telemetry', with: { enablePrometheusMetricsPath: true } }] },
  });
  for (const _ of [1, 2]) expect(await kit.gateway.perform(call)).toMatchObject({ result: { isError: false } });
  const about = { plugin: ADDRESS, method: 'tools/call', name: 'echo', times: 2 };
  const blocked = kit.gateway.blocked();
  expect(blocked).toMatchObject([
    { ...about, stage: 'authorize' },
    { ...about, stage: 'wrapDispatch' },
  ]);
  expect(blocked[0]?.ms).toBeGreaterThanOrEqual(190);
  expect(blocked[1]?.ms).toBeGreaterThanOrEqual(140);
  const lines = kit.logged.map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { level: 'warn', message: 'the event loop was blocked', ...about, stage: 'authorize', times: 1 },
    { level: 'warn', message: 'the event loop was blocked', ...about, stage: 'wrapDispatch', times: 1 },
  ]);
  expect(kit.logged.join()).not.toContain('s3cret');
  const page = await (await kit.gateway.fetch(new Request('http://localhost/metrics'))).text();
  const counted = prometheusSamples(page).filter(
    ({ name }) => name === 'toolmgr_event_loop_blocked_duration_seconds_count',
  );
  expect(counted.map(({ labels, value }) => [labels.plugin, labels.stage, value])).toEqual([
    [ADDRESS, 'authorize', 2],
    [ADDRESS, 'wrapDispatch', 2],
  ]);
});

it('names the tap that blocks after it has waited, and reports work that no tap began', async () => {
  const plugin = blocking(({ hooks }) => {
    hooks.authorize.tapPromise(ADDRESS, async () => {
      await new Promise(setImmediate);
      block(200);
      return undefined;
    });
  });
  await using kit = await testGateway({ backends: backends(), plugins: [plugin], ownsProcess: true });
  const found = (stage: string) => kit.gateway.blocked().find((one) => one.stage === stage);
  // again, because the sampling misses what begins before its first tick
  await until(async () => {
    await kit.gateway.perform(call);
    return found('authorize') !== undefined;
  });
  expect(found('authorize')).toMatchObject({ plugin: ADDRESS, method: 'tools/call', name: 'echo' });
  await until(async () => {
    await new Promise<void>((resolve) => {
      setTimeout(() => resolve(block(200)));
    });
    return found('background') !== undefined;
  });
  expect(found('background')?.plugin).toBeUndefined();
  expect(found('background')?.ms).toBeGreaterThanOrEqual(150);
});

it('measures nothing with the limit 0', async () => {
  const plugin = blocking(({ hooks }) => {
    hooks.authorize.tap(ADDRESS, () => {
      block(120);
      return undefined;
    });
  });
  await using kit = await testGateway({ backends: backends(), plugins: [plugin], plan: { limits: { blockedMs: 0 } } });
  await kit.gateway.perform(call);
  expect([kit.gateway.blocked(), kit.logged]).toEqual([[], []]);
});
