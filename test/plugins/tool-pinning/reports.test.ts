import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { decide, pinsOf, readPins } from '@toolmgr/plugins/kit/tool-pins';
import { expect, it } from 'vitest';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const folder = temporaryFolderOfFile('pin-reports');

it('a held definition and each decision about it is an audit event, and the metrics count what waits', async () => {
  const [file, logFile] = [join(folder, 'pins.json'), join(folder, 'audit.log')];
  const plugins = [
    { use: 'tool-pinning', with: { file } },
    { use: 'audit', with: { logFile, eventTypes: ['vmcp_pin_held', 'vmcp_pin_approved', 'vmcp_pin_rejected'] } },
    { use: 'telemetry', with: { enablePrometheusMetricsPath: true } },
  ];
  const far = fakeServer().tool('pay').tool('list');
  const near = fakeServer().tool('other');
  await using kit = await testGateway({
    backends: { far, near },
    catalogue,
    plan: { limits: { coalesceMs: 1 }, plugins },
  });
  const held = async (): Promise<unknown> => {
    const text = await (await kit.gateway.fetch(new Request('http://localhost/metrics'))).text();
    return Object.fromEntries(
      [...text.matchAll(/toolmgr_vmcp_held_definitions\{.*?target_workload_name="(\w+)".*?\} (\d+)/g)].map(
        ([, backend, count]) => [backend, Number(count)],
      ),
    );
  };
  await until(async () => Object.keys((await readPins(file)).backends).length === 2);
  expect(await held()).toEqual({ far: 0, near: 0 });

  far.tool('pay', 'x', { description: 'Pays twice' });
  far.tool('late', 'x', { description: `token=hunter2hunter2 ${'x'.repeat(5_000)}` });
  far.notify('notifications/tools/list_changed');
  await until(async () => pinsOf(await readPins(file), 'far', 'tool late').held.length === 1);
  expect(await held()).toEqual({ far: 2, near: 0 });
  const [change] = pinsOf(await readPins(file), 'far', 'tool pay').held;
  const person = { by: 'ada', now: new Date() };
  await decide(file, { how: 'approve', wanted: [`far/pay@${change?.hash}`], ...person });
  await decide(file, { how: 'reject', wanted: ['far/late'], ...person });
  await until(async () => JSON.stringify(await held()) === '{"far":0,"near":0}');

  await kit.gateway.stop();
  const text = await readFile(logFile, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const pay = { backend: 'far', kind: 'tool', name: 'pay', definition_hash: change?.hash };
  expect(lines.map(({ type, target: { name } }) => `${type} ${name}`).sort()).toEqual([
    'vmcp_pin_approved pay',
    'vmcp_pin_held late',
    'vmcp_pin_held pay',
    'vmcp_pin_rejected late',
  ]);
  const of = (type: string) => lines.find((line) => line.type === type && line.target.name === 'pay');
  expect(of('vmcp_pin_held')).toMatchObject({
    outcome: 'denied',
    target: pay,
    metadata: { extra: { reason: expect.stringContaining('its description changed since') } },
  });
  expect(of('vmcp_pin_approved')).toMatchObject({
    outcome: 'success',
    target: pay,
    metadata: { extra: { approved_by: 'ada' } },
  });
  expect(text).not.toContain('hunter2');
});
