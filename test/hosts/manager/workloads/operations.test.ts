import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { toolmgr } from '../../run/toolmgr.ts';
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

const get = (path: string) => manager.request('GET', path);
const post = (path: string, body?: unknown) => manager.request('POST', path, body);
const namesOf = (answer: { body: { workloads: { name: string }[] } }) => answer.body.workloads.map(({ name }) => name);

describe('operations on many workloads', () => {
  proves(
    ['manager.workloads.bulk-restart-202', 'manager.limits.bulk-asynchronous', 'choice.manager.operations'],
    'restart in the background, each with an outcome of its own',
    async () => {
      const port = await createSmall(manager, 'again');
      const before = (await get(BASE)).body.workloads[0];
      const accepted = await post(`${BASE}/restart`, { names: ['again', 'none'] });
      expect(accepted.status).toBe(202);
      expect(accepted.body).toBe('2 workloads: restart');
      // the answer was sent before the work ended
      expect((await get(accepted.headers.get('location') ?? '')).body.status).toBe('running');
      const outcome = await outcomeOf(manager, accepted);
      expect(outcome.status).toBe('failed');
      expect(outcome.items).toMatchObject([
        { name: 'again', status: 'done' },
        { name: 'none', status: 'failed', detail: 'there is no workload none' },
      ]);
      const after = (await get(BASE)).body.workloads[0];
      expect(after).toMatchObject({ name: 'again', status: 'running', port });
      expect(after.started_at > before.started_at).toBe(true);
    },
    LONG,
  );

  proves(
    ['manager.workloads.bulk-delete-202', 'manager.workloads.bulk-delete-background', 'manager.workloads.list-group'],
    'delete a group after the answer was sent, and nothing else',
    async () => {
      expect((await post('/api/v1beta/groups', { name: 'old ones' })).status).toBe(201);
      await createSmall(manager, 'kept');
      await createSmall(manager, 'gone', { group: 'old ones' });
      expect(namesOf(await get(`${BASE}?group=old%20ones`))).toEqual(['gone']);
      const accepted = await post(`${BASE}/delete`, { group: 'old ones' });
      expect(accepted.status).toBe(202);
      expect(accepted.body).toBe('1 workload: delete');
      expect(namesOf(await get(`${BASE}?all=true`))).toContain('gone');
      expect(await outcomeOf(manager, accepted)).toMatchObject({ status: 'succeeded', items: [{ name: 'gone' }] });
      expect(namesOf(await get(`${BASE}?all=true`))).toContain('kept');
      expect(namesOf(await get(`${BASE}?all=true`))).not.toContain('gone');
    },
    LONG,
  );

  for (const [id, verb] of [
    ['manager.workloads.bulk-delete-400', 'delete'],
    ['manager.workloads.bulk-restart-400', 'restart'],
  ] as const) {
    proves(id, `answer 400 to a wrong body of ${verb}, and change nothing`, async () => {
      const before = namesOf(await get(`${BASE}?all=true`));
      const wrong = [
        {},
        { names: ['kept'], group: 'default' },
        { names: [] },
        { names: ['../kept'] },
        { name: 'kept' },
      ];
      for (const body of [...wrong, { group: 'none' }, { group: 'Bad  Name' }, [], 'kept', null]) {
        const answer = await post(`${BASE}/${verb}`, body);
        expect(answer.status, JSON.stringify(body)).toBe(400);
        expect(answer.headers.get('content-type')).toContain('application/problem+json');
      }
      expect(namesOf(await get(`${BASE}?all=true`))).toEqual(before);
    });
  }

  it(
    'stop by names; one that is stopped already is unchanged',
    async () => {
      const accepted = await post(`${BASE}/stop`, { names: ['kept', 'kept'] });
      expect((await outcomeOf(manager, accepted)).items).toMatchObject([{ name: 'kept', status: 'done' }]);
      const again = await post(`${BASE}/stop`, { names: ['kept'] });
      expect((await outcomeOf(manager, again)).items).toMatchObject([{ name: 'kept', status: 'unchanged' }]);
    },
    LONG,
  );
});

describe('operations on one workload', () => {
  proves('manager.workloads.list-404', 'list of an unknown group answers 404', async () => {
    expect((await get(`${BASE}?group=none`)).status).toBe(404);
    expect((await get(`${BASE}?group=a%20%20b`)).status).toBe(400);
    expect((await get(`${BASE}?al=true`)).status).toBe(400);
  });

  proves('manager.workloads.export-404', 'export of an unknown workload answers 404', async () => {
    expect((await get(`${BASE}/none/export`)).status).toBe(404);
    expect((await get(`${BASE}/..%2Fx/export`)).status).toBe(400);
  });

  proves('manager.workloads.export-200', 'export answers the run configuration', async () => {
    const answer = await get(`${BASE}/again/export`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ schema_version: 'v0.1.0', name: 'again', process: { target: 'small' } });
  });

  proves('manager.workloads.detail-404', 'details of an unknown workload answer 404 with a suggestion', async () => {
    const answer = await get(`${BASE}/agan`);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: 'not_found', detail: 'there is no workload agan, did you mean again?' });
  });

  proves('manager.workloads.detail-200', 'details answer the configuration', async () => {
    const answer = await get(`${BASE}/again`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ name: 'again', image: 'small', group: 'default', transport: 'stdio' });
  });

  proves('manager.workloads.update-404', 'an edit of an unknown workload answers 404', async () => {
    expect((await post(`${BASE}/none/edit`, { image: 'small' })).status).toBe(404);
  });

  proves(
    'manager.workloads.update-200',
    'an edit stops, replaces and starts, and answers name and port',
    async () => {
      const { body } = await get(`${BASE}/again`);
      const answer = await post(`${BASE}/again/edit`, {
        ...body,
        cmd_arguments: ['--quick'],
        env_vars: { LEVEL: 'info' },
      });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toEqual({ name: 'again', port: body.proxy_port });
      expect(await get(`${BASE}/again`)).toMatchObject({
        body: { cmd_arguments: ['--quick'], env_vars: { LEVEL: 'info' }, proxy_port: body.proxy_port },
      });
      const logs = await get(`${BASE}/again/logs`);
      expect(logs.headers.get('content-type')).toContain('text/plain');
      expect(logs.text).toContain('started with --quick');
      expect((await get(`${BASE}/again/proxy-logs`)).text).toContain('the workload answers');
    },
    LONG,
  );

  it(
    'an edit that cannot start restores the old configuration, which runs again',
    async () => {
      const { body } = await get(`${BASE}/again`);
      const answer = await post(`${BASE}/again/edit`, { ...body, env_vars: { FAILS: 'yes' } });
      expect(answer.status, answer.text).toBe(422);
      expect(answer.body.detail).toMatch(/it did not start: .*; the old configuration is restored and runs/);
      expect((await get(`${BASE}/again`)).body).toEqual(body);
      expect((await get(`${BASE}/again/status`)).body).toEqual({ status: 'running' });
    },
    LONG,
  );

  proves('manager.workloads.update-400', 'a wrong body of an edit answers 400 and names the field', async () => {
    const { body } = await get(`${BASE}/again`);
    const cases: readonly (readonly [string, object])[] = [
      ['image', { image: '' }],
      ['url', { url: 'https://far.example/mcp' }],
      ['transport', { transport: 'inspector' }],
      ['proxy_mode', { proxy_mode: 'http' }],
      ['proxy_port', { proxy_port: 70_000 }],
      ['name', { name: 'other' }],
      ['env_vars.OTHER', { env_vars: { OTHER: '[secret]' } }],
      ['oauth_config.resource', { oauth_config: { resource: '/relative' } }],
      ['oauth_config.resource', { oauth_config: { resource: 'https://a.example/#part' } }],
      ['oauth_config.callback_port', { oauth_config: { callback_port: 80 } }],
      ['oauth_config.use_pkce', { oauth_config: { use_pkce: false } }],
      ['header_forward.add_plaintext_headers.Host', { header_forward: { add_plaintext_headers: { Host: 'a' } } }],
      ['header_forward.add_plaintext_headers.Te', { header_forward: { add_plaintext_headers: { Te: 'a' } } }],
      ['header_forward.add_plaintext_headers.a b', { header_forward: { add_plaintext_headers: { 'a b': 'a' } } }],
      ['header_forward.add_plaintext_headers.A', { header_forward: { add_plaintext_headers: { A: 'a\r\nB: c' } } }],
      [
        'header_forward.add_plaintext_headers.A',
        { header_forward: { add_plaintext_headers: { A: 'x'.repeat(8_193) } } },
      ],
      ['runtime_config.additional_packages[0]', { runtime_config: { additional_packages: ['-x'] } }],
      ['runtime_config.additional_packages[0]', { runtime_config: { additional_packages: ['a'.repeat(129)] } }],
      ['runtime_config.build_with[0]', { runtime_config: { build_with: ['a; rm'] } }],
      ['runtime_config.runtime_env.PATH', { runtime_config: { runtime_env: { PATH: 'a' } } }],
      ['runtime_config.runtime_env.lower', { runtime_config: { runtime_env: { lower: 'a' } } }],
      ['runtime_config.runtime_env.A', { runtime_config: { runtime_env: { A: 'a$(b)' } } }],
      ['runtime_config', { runtime_config: { builder_image: 'python:3.13' } }],
      ['oidc.client_secret', { oidc: { client_secret: 'not a name!' } }],
      ['group', { group: 'Upper Case' }],
      ['permission_profile', { permission_profile: { privileged: true } }],
      ['network_isolation', { network_isolation: true }],
      ['volumes', { volumes: ['/a:/b'] }],
      ['header_forward', { header_forward: { add_plaintext_headers: { 'X-Team': 'a' } } }],
      ['server', { registry: 'default', server: 'io.example/other' }],
    ];
    for (const [path, change] of cases) {
      const answer = await post(`${BASE}/again/edit`, { ...body, ...change });
      expect(answer.status, `${path}: ${answer.text}`).toBe(400);
      expect(answer.text, path).toContain(path);
    }
    expect((await post(`${BASE}/again/edit`, { ...body, group: 'none' })).status).toBe(404);
    expect((await post(`${BASE}/again/edit`, { ...body, imgae: 'x' })).body.detail).toContain('image');
    expect((await get(`${BASE}/again`)).body).toEqual(body);
  });

  it(
    'a creation refuses reserved and used names, unknown groups and sources that do not exist',
    async () => {
      for (const name of ['delete', 'import', 'restart', 'stop', 'upgrade-check', '../x', 'a/b', 'x'.repeat(101)]) {
        expect((await post(BASE, { name, image: 'example/x:1' })).status, name).toBe(400);
      }
      expect((await post(BASE, { name: 'again', image: 'example/x:1' })).status).toBe(409);
      expect((await post(BASE, { name: 'new', image: 'example/x:1', group: 'none' })).status).toBe(404);
      expect((await post(BASE, { name: 'new', registry: 'default' })).status).toBe(400);
      expect((await post(BASE, { name: 'new', registry: 'other', server: 'x' })).status).toBe(400);
      expect((await post(BASE, { name: 'new', registry: 'default', server: 'io.example/none' })).status).toBe(404);
      const failing = await post(`${BASE}/import`, smallConfig('failing', { env_vars: { FAILS: 'yes' } }));
      expect(failing.status).toBe(422);
      expect(failing.body.detail).toMatch(/it did not start: .*; it was removed; its last lines: started with/);
      expect((await get(`${BASE}/failing`)).status).toBe(404);
    },
    LONG,
  );

  it('an import refuses values that an export hid', async () => {
    const answer = await post(`${BASE}/import`, smallConfig('hidden', { env_vars: { TOKEN: '[secret]' } }));
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([{ path: 'env_vars.TOKEN' }]);
  });
});

describe('groups over HTTP', () => {
  it(
    'are created, read, listed and deleted; their workloads go to default',
    async () => {
      expect((await post('/api/v1beta/groups', { name: 'team' })).body).toEqual({ name: 'team' });
      expect((await post('/api/v1beta/groups', { name: 'team' })).status).toBe(409);
      expect((await post('/api/v1beta/groups', { name: 'Team' })).status).toBe(400);
      await createSmall(manager, 'member', { group: 'team' });
      expect((await get('/api/v1beta/groups/team')).body).toEqual({ name: 'team', registered_clients: [], skills: [] });
      expect((await get('/api/v1beta/groups/none')).status).toBe(404);
      expect((await get('/api/v1beta/groups')).body.groups).toMatchObject([
        { name: 'default' },
        { name: 'old ones' },
        { name: 'team' },
      ]);
      expect((await manager.request('DELETE', '/api/v1beta/groups/default')).status).toBe(400);
      expect((await manager.request('DELETE', '/api/v1beta/groups/none')).status).toBe(404);
      expect((await manager.request('DELETE', '/api/v1beta/groups/team')).status).toBe(204);
      expect((await get(`${BASE}/member`)).body.group).toBe('default');
      await post('/api/v1beta/groups', { name: 'short' });
      await createSmall(manager, 'ends', { group: 'short' });
      expect((await manager.request('DELETE', '/api/v1beta/groups/short?with-workloads=true')).status).toBe(204);
      expect((await get(`${BASE}/ends`)).status).toBe(404);
    },
    LONG,
  );
});

describe('the command line and the API', () => {
  it(
    'see and change the same workloads',
    async () => {
      const { state } = manager;
      const listed = async () => JSON.parse((await toolmgr(state, 'list', '--all', '--format', 'json')).out);
      const agree = async () => {
        const byApi = (await get(`${BASE}?all=true`)).body.workloads;
        const byCommand = await listed();
        const facts = (each: Record<string, unknown>) => [
          each.name,
          each.group,
          each.status,
          each.port,
          each.url,
          each.package,
        ];
        expect(byCommand.map(facts)).toEqual(byApi.map(facts));
        const groups = JSON.parse((await toolmgr(state, 'group', 'list', '--format', 'json')).out);
        expect(groups.map(({ name }: { name: string }) => name)).toEqual(
          (await get('/api/v1beta/groups')).body.groups.map(({ name }: { name: string }) => name),
        );
      };
      await createSmall(manager, 'shared', { group: 'common' });
      await agree();
      expect((await toolmgr(state, 'export', 'shared')).out).toBe(
        `${JSON.stringify((await get(`${BASE}/shared/export`)).body, undefined, 2)}\n`,
      );
      expect((await toolmgr(state, 'stop', 'shared')).code).toBe(0);
      await agree();
      expect(await outcomeOf(manager, await post(`${BASE}/shared/restart`))).toMatchObject({ status: 'succeeded' });
      await agree();
      expect((await toolmgr(state, 'rm', '--force', 'shared')).code).toBe(0);
      await agree();
      expect((await get(`${BASE}/shared`)).status).toBe(404);
      for (const name of ['delete', 'import', 'upgrade-check']) {
        expect((await toolmgr(state, 'run', '--name', name, process.execPath)).err).toContain('is a word of the API');
      }
    },
    LONG,
  );
});
