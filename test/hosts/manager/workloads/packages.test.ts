import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { LONG, removeAll } from './small.ts';

let manager: StartedManager;

const BASE = '/api/v1beta/workloads';
const PACKAGE = 'npx://@modelcontextprotocol/server-everything';

const post = (body: object) => manager.request('POST', BASE, body);

beforeAll(async () => {
  manager = await startManager({ env: { TOOLMGR_RUNTIME: 'process', TOOLMGR_SECRET_OWN_KEY: 's3cret' } });
  const file = join(manager.home, 'registry.json');
  await writeFile(
    file,
    JSON.stringify({
      version: '1.0.0',
      servers: {
        every: {
          image: `${PACKAGE}@2026.8.31`,
          transport: 'stdio',
          tools: ['echo'],
          env_vars: [
            { name: 'LEVEL', description: 'level', required: false, default: 'high' },
            { name: 'OWN_KEY', description: 'key', required: true, secret: true },
            { name: 'REGION', description: 'region', required: true },
          ],
        },
      },
      remote_servers: { notes: { url: 'https://notes.example/mcp', transport: 'streamable-http' } },
    }),
  );
  const put = await manager.request('PUT', '/api/v1beta/registry/default', { local_path: file });
  if (put.status !== 200) throw new Error(put.text);
}, LONG);

afterAll(async () => {
  await removeAll(manager.state);
  await manager.stop();
}, LONG);

describe('a package of a registry that runs as a process', () => {
  it('needs the required variables of its entry, before anything starts', async () => {
    const answer = await post({ name: 'one', registry: 'default', server: 'every' });
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain('REGION');
  });

  it.each([
    ['image', { server: 'notes', image: `${PACKAGE}@2026.8.31` }],
    ['url', { server: 'every', url: 'https://notes.example/mcp' }],
  ])('refuses an %s for an entry of the other kind', async (field, body) => {
    const answer = await post({ name: 'one', registry: 'default', ...body });
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain(`${field}: `);
  });

  it('takes only tools that its entry lists', async () => {
    const body = { name: 'one', registry: 'default', server: 'every', env_vars: { REGION: 'eu' }, tools: ['ecko'] };
    expect((await post(body)).status).toBe(400);
  });

  it('refuses a permission profile, which nothing would apply', async () => {
    const profile = { read: [], write: [], privileged: false, network: { outbound: { allow_host: ['a.example'] } } };
    const answer = await post({ name: 'one', image: `${PACKAGE}@2026.8.31`, permission_profile: profile });
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain('permission_profile');
  });

  it(
    'says in one sentence that its port is taken',
    async () => {
      const proxy_port = Number(new URL(manager.url).port);
      const answer = await post({ name: 'two', image: `${PACKAGE}@2026.8.31`, proxy_port });
      expect(answer.status).toBe(409);
      expect(answer.body.detail).toMatch(
        /is taken by .*; .*, choose another proxy_port, or leave it out for a free one$/,
      );
    },
    LONG,
  );

  it(
    'gets the defaults and the secrets of its entry, and its upgrade can be checked',
    async () => {
      // as clients that install from the listing send it
      const entry = { image: PACKAGE, registry: 'default', server: 'dev.toolmgr/every' };
      const made = await post({ name: 'one', ...entry, env_vars: { REGION: 'eu' } });
      expect(made.text).toContain('"port"');
      const { body } = await manager.request('GET', `${BASE}/one`);
      expect([body.server, body.image]).toEqual(['every', PACKAGE]);
      expect(body.env_vars).toMatchObject({ LEVEL: 'high', REGION: 'eu' });
      expect(body.secrets).toEqual([{ name: 'OWN_KEY', target: 'OWN_KEY' }]);
      const check = await manager.request('GET', `${BASE}/one/upgrade-check`);
      expect(check.body.result).toMatchObject({ registry_server: 'every', current_image: PACKAGE });
      const edit = { ...entry, cmd_arguments: [], env_vars: body.env_vars, secrets: body.secrets };
      expect((await manager.request('POST', `${BASE}/one/edit`, edit)).status).toBe(200);
    },
    LONG,
  );
});
