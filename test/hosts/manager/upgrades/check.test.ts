import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createRecord,
  type RunConfig,
  readWorkload,
  WORKLOAD_FILES,
  workloadDir,
} from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

const API = '/api/v1beta/workloads';
const SECRET = 'a-value-that-is-secret';
const LONG = 180_000;

const home = temporaryFolderOfFile('upgrades');
let manager: StartedManager;

beforeAll(async () => {
  const document = {
    servers: {
      time: {
        image: 'org/time:1.3.0',
        transport: 'stdio',
        permissions: { name: 'narrow' },
        env_vars: [
          { name: 'REGION', default: 'eu' },
          { name: 'API_KEY', secret: true, required: true, default: SECRET },
        ],
      },
    },
  };
  await mkdir(join(home, 'config', 'toolmgr'), { recursive: true });
  await writeFile(join(home, 'registry.json'), JSON.stringify(document));
  await writeFile(
    join(home, 'config', 'toolmgr', 'config.yaml'),
    `local_registry_path: ${join(home, 'registry.json')}\n`,
  );
  // no engine answers: a check needs none
  manager = await startManager({ home, env: { DOCKER_HOST: `unix://${home}/none.sock` } });
  await add('old', { image: 'org/time:1.2.0', registry_server_name: 'time', group: 'one', env_vars: { KEY: SECRET } });
  await add('current', { image: 'org/time:1.3.0', registry_server_name: 'time' });
  await add('own', { image: 'org/own:1.0.0' });
  await add('gone', { image: 'org/gone:1.0.0', registry_server_name: 'gone' });
  await add('damaged', { image: 'org/time:1.2.0', registry_server_name: 'time' });
  await writeFile(join(workloadDir(manager.state, 'damaged'), WORKLOAD_FILES.config), '{');
}, LONG);

afterAll(() => manager.stop());

async function add(name: string, more: Partial<RunConfig>): Promise<void> {
  const { process: _, ...config } = workloadConfigOf(name, { permission_profile_name_or_path: 'network', ...more });
  await createRecord(manager.state, { ...config, transport: 'streamable-http' });
}

const get = (path: string) => manager.request('GET', `${API}${path}`);
const apply = (name: string, body?: unknown) => manager.request('POST', `${API}/${name}/upgrade`, body);

const OLD = {
  workload_name: 'old',
  status: 'upgrade-available',
  current_image: 'org/time:1.2.0',
  candidate_image: 'org/time:1.3.0',
  registry_server: 'time',
  config_drift: {
    permission_profile: { from: 'network', to: 'narrow' },
    transport: { from: 'streamable-http', to: 'stdio' },
  },
  env_var_drift: {
    added: [
      { name: 'REGION', required: false, secret: false, default: 'eu' },
      { name: 'API_KEY', required: true, secret: true },
    ],
    removed: [{ name: 'KEY', required: false, secret: false }],
  },
};

describe('the upgrade operations', () => {
  proves(
    [
      'manager.upgrades.check-200',
      'manager.upgrades.check-offline',
      'manager.upgrade-check.candidate-image',
      'manager.upgrade-check.current-image',
      'manager.upgrade-check.registry-server',
      'manager.upgrade-check.workload-name',
      'manager.upgrade-check.config-drift-permission-profile',
      'manager.upgrade-check.config-drift-transport',
      'manager.upgrade-check.env-var-drift-added',
      'manager.upgrade-check.env-var-drift-removed',
    ],
    'check one workload without an engine, and show the image and what else differs',
    async () => {
      expect(await get('/old/upgrade-check')).toMatchObject({ status: 200, body: { result: OLD } });
    },
  );

  proves(
    [
      'manager.upgrade-check.status',
      'manager.upgrade-check.reason',
      'manager.state.upgrade-check-up-to-date',
      'manager.upgrades.check-all-200',
      'manager.upgrades.check-all-query',
    ],
    'check many workloads, also those that cannot be compared, with a reason',
    async () => {
      const { status, body } = await get('/upgrade-check?all=true');
      expect(status).toBe(200);
      expect(body.results).toEqual([
        expect.objectContaining({ workload_name: 'current', status: 'up-to-date' }),
        expect.objectContaining({
          workload_name: 'damaged',
          status: 'unknown',
          reason: expect.stringContaining('run.json'),
        }),
        expect.objectContaining({
          workload_name: 'gone',
          status: 'server-not-found',
          registry_server: 'gone',
          reason: expect.stringContaining('no server gone'),
        }),
        OLD,
        expect.objectContaining({ workload_name: 'own', status: 'not-registry-sourced' }),
      ]);
      // stopped ones only with all
      expect((await get('/upgrade-check')).body.results.map((each: typeof OLD) => each.workload_name)).not.toContain(
        'old',
      );
      expect((await get('/upgrade-check?all=true&group=one')).body).toEqual({ results: [OLD] });
    },
  );

  proves(
    [
      'manager.upgrades.check-400',
      'manager.upgrades.check-404',
      'manager.upgrades.check-all-400',
      'manager.upgrades.check-all-404',
      'manager.upgrades.apply-404',
    ],
    'refuse wrong names, flags and unknown workloads and groups',
    async () => {
      expect((await get('/not%20a%20name/upgrade-check')).status).toBe(400);
      expect((await get('/unknown/upgrade-check')).status).toBe(404);
      expect((await get('/upgrade-check?all=perhaps')).status).toBe(400);
      expect((await get('/upgrade-check?group=unknown')).status).toBe(404);
      expect((await apply('unknown')).status).toBe(404);
    },
  );

  proves(
    ['manager.upgrades.apply-400', 'manager.upgrades.no-secrets-in'],
    'accept references to secrets and never their values',
    async () => {
      for (const body of [
        { secrets: ['not-a-reference'] },
        { secrets: [`API_KEY=${SECRET}`] },
        { secrets: [{ name: 'API_KEY', value: SECRET }] },
        { secret_values: { API_KEY: SECRET } },
        { env: { 'no name': 'x' } },
      ]) {
        const answer = await apply('old', body);
        expect(answer.status).toBe(400);
        expect(answer.text).not.toContain(SECRET);
      }
      const asPlain = await apply('old', { env: { API_KEY: SECRET } });
      expect(asPlain).toMatchObject({ status: 422, body: { detail: expect.stringContaining('API_KEY is a secret') } });
      expect(asPlain.text).not.toContain(SECRET);
    },
  );

  proves(
    [
      'manager.upgrades.apply-unchanged-when-current',
      'manager.upgrades.apply-unchanged-when-not-registry',
      'manager.api.apply-upgrade-optional-body',
    ],
    'change nothing when there is no upgrade, and answer with the check',
    async () => {
      for (const [name, status] of [
        ['current', 'up-to-date'],
        ['own', 'not-registry-sourced'],
        ['gone', 'server-not-found'],
        ['damaged', 'unknown'],
      ] as const) {
        const before = await readWorkload(manager.state, name);
        expect(await apply(name)).toMatchObject({ status: 200, body: { result: { workload_name: name, status } } });
        expect(await readWorkload(manager.state, name)).toEqual(before);
      }
    },
  );

  it('refuse before the workload is touched: a value that is missing, a secret that is missing, no engine', async () => {
    const before = await readWorkload(manager.state, 'old');
    const missing = await apply('old');
    expect(missing).toMatchObject({ status: 422, body: { detail: expect.stringContaining('API_KEY (in secrets') } });
    const unknown = await apply('old', { secrets: ['no_such,target=API_KEY'] });
    expect(unknown).toMatchObject({ status: 422, body: { detail: expect.stringContaining('no_such') } });
    expect(await readWorkload(manager.state, 'old')).toEqual(before);
  });

  proves('manager.upgrades.no-secrets-out', 'return no value of a secret or of a variable', async () => {
    const texts = [await get('/old/upgrade-check'), await get('/upgrade-check?all=true'), await apply('old')];
    for (const { text } of texts) expect(text).not.toContain(SECRET);
  });
});
