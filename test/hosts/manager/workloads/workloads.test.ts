import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { createSmall, LONG, outcomeOf, removeAll, smallConfig } from './small.ts';

const BASE = '/api/v1beta/workloads';

let manager: StartedManager;

beforeAll(async () => {
  manager = await startManager();
}, LONG);

afterAll(async () => {
  await removeAll(manager.state);
  await manager.stop();
}, LONG);

describe('workloads over HTTP', () => {
  proves(
    ['manager.workloads.list-200', 'manager.workloads.list-running-default', 'manager.workloads.list-all'],
    'are created, listed by name, stopped in the background, and then listed only with all',
    async () => {
      const port = await createSmall(manager, 'one');
      expect(port).toBeGreaterThan(0);
      const running = await manager.request('GET', BASE);
      expect(running.status).toBe(200);
      expect(running.body.workloads).toMatchObject([{ name: 'one', status: 'running', port, transport_type: 'stdio' }]);
      const stopped = await manager.request('POST', `${BASE}/one/stop`);
      expect(stopped.status).toBe(202);
      expect(stopped.body).toBe('1 workload: stop');
      expect(await outcomeOf(manager, stopped)).toMatchObject({ status: 'succeeded' });
      expect((await manager.request('GET', BASE)).body.workloads).toEqual([]);
      const all = await manager.request('GET', `${BASE}?all=true`);
      expect(all.body.workloads).toMatchObject([{ name: 'one', status: 'stopped', url: '', started_at: '' }]);
      expect((await manager.request('GET', `${BASE}/one/status`)).body).toEqual({ status: 'stopped' });
    },
    LONG,
  );

  it(
    'have details that can be sent back unchanged, also with hidden values',
    async () => {
      await createSmall(manager, 'round', {
        env_vars: { LOG_LEVEL: 'debug', API_TOKEN: 's3cr3t-value' },
        cmd_args: ['--depth', '3', '--password=hunter2'],
      });
      const before = await manager.request('GET', `${BASE}/round`);
      expect(before.status).toBe(200);
      expect(before.text).not.toMatch(/s3cr3t|hunter2/);
      expect(before.body.env_vars).toEqual({ LOG_LEVEL: 'debug', API_TOKEN: '[secret]' });
      const started = (await manager.request('GET', `${BASE}?all=true`)).body.workloads;
      const edited = await manager.request('POST', `${BASE}/round/edit`, before.body);
      expect(edited.text).toBe(JSON.stringify({ name: 'round', port: before.body.proxy_port }));
      expect((await manager.request('GET', `${BASE}?all=true`)).body.workloads).toEqual(started);
      const after = await manager.request('GET', `${BASE}/round`);
      expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
      expect(after.body).toEqual(before.body);
      const exported = await manager.request('GET', `${BASE}/round/export`);
      expect(exported.text).not.toMatch(/s3cr3t|hunter2/);
      const changed = await manager.request(
        'POST',
        `${BASE}/round/edit`,
        { ...before.body, env_vars: { ...before.body.env_vars, LOG_LEVEL: 'info' } },
        { 'if-match': before.headers.get('etag') ?? '' },
      );
      expect(changed.text).toBe(JSON.stringify({ name: 'round', port: before.body.proxy_port }));
      const stale = await manager.request('POST', `${BASE}/round/edit`, before.body, {
        'if-match': before.headers.get('etag') ?? '',
      });
      expect(stale.status).toBe(412);
    },
    LONG,
  );

  proves(
    'choice.manager.if-match',
    'are changed by one of five edits at once that begin from the same version',
    async () => {
      await createSmall(manager, 'five');
      const before = await manager.request('GET', `${BASE}/five`);
      const edits = await Promise.all(
        ['a', 'b', 'c', 'd', 'e'].map((level) =>
          manager.request(
            'POST',
            `${BASE}/five/edit`,
            { ...before.body, env_vars: { LOG_LEVEL: level } },
            { 'if-match': before.headers.get('etag') ?? '' },
          ),
        ),
      );
      expect(edits.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
      const winner = ['a', 'b', 'c', 'd', 'e'][edits.findIndex(({ status }) => status === 200)];
      expect((await manager.request('GET', `${BASE}/five`)).body.env_vars).toEqual({ LOG_LEVEL: winner });
    },
    60_000,
  );

  it('are refused with the field that is wrong', async () => {
    const refused = await manager.request('POST', `${BASE}/import`, smallConfig('stop'));
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toMatchObject([{ path: 'name' }]);
  });
});
