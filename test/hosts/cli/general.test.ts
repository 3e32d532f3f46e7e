import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, definePlugin, type PlanInput } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { beforeEach, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { startPlan } from '../../../hosts/cli/start/plan.ts';
import { upPlan } from '../../../hosts/cli/up/serve.ts';
import { configSchema } from '../../../hosts/vmcp/config-schema.ts';
import { planAsYaml } from '../../../hosts/vmcp/print-plan.ts';
import { sectionsOf } from '../../../hosts/vmcp/sections.ts';
import { planFromRun } from '../../../hosts/workloads/proxy/plan.ts';
import { cli, startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { readText } from '../../support/vmcp-text.ts';
import { workloadConfigOf } from '../../support/workload-config.ts';

const LONG = 120_000;
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('general');
});

const MINE = join(import.meta.dirname, '../vmcp/fixture/lenient.ts');
const HEAD = {
  name: 'dev',
  groupRef: 'dev',
  incomingAuth: { type: 'anonymous' },
  outgoingAuth: { source: 'inline' },
  aggregation: { conflictResolution: 'prefix' },
};
const read = (config: object) => readText(stringify(config));

describe('the endpoint of a host', () => {
  proves(
    ['choice.endpoint.path-mcp', 'choice.endpoint.host-default', 'choice.endpoint.port-default'],
    'is /mcp on 127.0.0.1, port 4483, by default',
    async () => {
      await using server = await recordingServer();
      const file = join(folder, 'vmcp.yaml');
      const backends = [{ name: 'one', url: server.url, transport: 'streamable-http' }];
      await writeFile(file, stringify({ ...HEAD, backends }));
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
      expect((await cli(['call', 'one_echo', 'message=hi', '--url', url])).out).toBe('echo: hi\n');
      expect((await fetch(new URL('/other', url), { method: 'POST' })).status).toBe(404);
      for (const command of [['vmcp', 'serve'], ['up']]) {
        const { out } = await cli([...command, '--help']);
        expect(out).toMatch(/--host.*\(default: "127\.0\.0\.1"\)/s);
        expect(out).toMatch(/--port.*\(default: 4483\)/s);
      }
    },
    LONG,
  );
});

describe('a secret', () => {
  proves('choice.general.secrets-by-reference', 'is in a file by the name of its variable', async () => {
    const header = (headerInjection: object) => ({
      ...HEAD,
      outgoingAuth: { source: 'inline', default: { type: 'header_injection', headerInjection } },
    });
    const byName = await read(header({ headerName: 'Authorization', headerValueEnv: 'THE_TOKEN' }));
    expect(byName.warnings).toEqual([]);
    expect(planAsYaml(byName.plan)).toContain('THE_TOKEN');
    const open = await read(header({ headerName: 'Authorization', headerValue: 'Bearer hunter2' }));
    expect(open.warnings).toEqual([
      expect.stringMatching(/outgoingAuth\.default\.headerInjection\.headerValue: a credential is in the file/),
    ]);
    expect(open.warnings.join()).not.toContain('hunter2');
    expect(planAsYaml(open.plan)).not.toContain('hunter2');
    expect((await read(header({ headerName: 'X-Tenant', headerValue: 'blue' }))).warnings).toEqual([]);
    const backends = [{ name: 'a', url: 'http://user:hunter2@a.test/mcp', transport: 'streamable-http' }];
    await expect(read({ ...HEAD, backends })).rejects.toThrow(/url must not contain a password/);
    await expect(read({ ...HEAD, stateKey: 'x'.repeat(40) })).rejects.toThrow(/unknown key "stateKey"/);
  });
});

describe('keys of this implementation in a file', () => {
  /** Keys of `spec.config` in the contract, and `authServerConfig` of `spec`, which has no other place in a file. */
  const CONTRACT = [
    'aggregation',
    'audit',
    'authServerConfig',
    'backends',
    'codeMode',
    'compositeToolRefs',
    'compositeTools',
    'groupRef',
    'incomingAuth',
    'metadata',
    'name',
    'operational',
    'optimizer',
    'outgoingAuth',
    'passthroughHeaders',
    'rateLimiting',
    'sessionStorage',
    'telemetry',
  ];

  proves('choice.general.extension-keys', 'do not change the keys of the contract', async () => {
    const { shape } = configSchema(await sectionsOf(catalogue));
    const ours = Object.keys(shape).filter((key) => !CONTRACT.includes(key));
    expect(ours.sort()).toEqual([
      ...[
        'dataProtection',
        'decisionPoint',
        'endpoint',
        'httpClient',
        'kubernetes',
        'limits',
        'maxToolNameLength',
        'plugins',
        'resultLimits',
        'statusPages',
        'toolPinning',
      ],
    ]);
    expect(CONTRACT.filter((key) => !(key in shape))).toEqual([]);
    const spec = {
      ...HEAD,
      backends: [{ name: 'a', url: 'http://a.test/mcp', transport: 'sse' }],
      operational: { timeouts: { default: '5s' } },
      passthroughHeaders: ['X-Tenant'],
    };
    const extended = {
      ...spec,
      limits: { sessions: 5 },
      endpoint: { path: '/tools' },
      httpClient: 'undici',
      maxToolNameLength: 64,
      plugins: [{ use: MINE }],
    };
    const plain = (await read(spec)).plan;
    const { limits, endpoint, httpClient, maxToolNameLength, plugins, ...rest } = (await read(extended)).plan;
    expect({ ...rest, plugins: plugins.slice(0, -1) }).toEqual(plain);
    expect({ limits, endpoint, httpClient, maxToolNameLength, added: plugins.at(-1) }).toMatchObject({
      ...{ limits: extended.limits, endpoint: extended.endpoint, httpClient: 'undici', maxToolNameLength: 64 },
      added: { use: MINE },
    });
  });
});

describe('one call', () => {
  const STAGES = ['authenticate', 'rewriteCall', 'authorize', 'limit', 'dispatch', 'rewriteResult', 'callSettled'];

  /** Records each stage of a call and returns no opinion. */
  const probe = (address: string, order: string[]) =>
    definePlugin({
      address,
      config: z.strictObject({}),
      apply({ hooks }: Core) {
        const note = (stage: string): undefined => void order.push(stage);
        // tapped in another order than the stages run
        hooks.callSettled.tap(address, () => note('callSettled'));
        hooks.limit.tap(address, () => note('limit'));
        hooks.rewriteResult.tap(address, (result) => {
          note('rewriteResult');
          return result;
        });
        hooks.wrapDispatch.tap(address, (dispatch) => (call) => {
          note('dispatch');
          return dispatch(call);
        });
        hooks.authorize.tap(address, () => note('authorize'));
        hooks.rewriteCall.tap(address, (call) => {
          note('rewriteCall');
          return call;
        });
        hooks.authenticate.tap({ name: address, stage: -1 }, () => note('authenticate'));
      },
    });

  /** The plan of each host, with fake backends. */
  const hosts: Readonly<Record<string, () => Promise<PlanInput>>> = {
    vmcp: async () => (await read({ ...HEAD, audit: { enabled: true, logFile: join(folder, 'a') } })).plan,
    run: async () => planFromRun(workloadConfigOf('w'), { runId: 'r', logFile: join(folder, 'l') }),
    start: () => startPlan(folder, process.cwd()),
    up: async () => upPlan(true),
  };

  for (const [host, planOf] of Object.entries(hosts)) {
    proves('choice.general.one-order', `passes the same stages in the same order behind ${host}`, async () => {
      const { outgoingAuth: _, plugins, ...plan } = await planOf();
      const kept = plugins.filter(({ use }) => use in catalogue && !use.startsWith('backend-sources/'));
      for (const turned of [kept, [...kept].reverse()]) {
        const order: string[] = [];
        const uses = [{ use: 'probe' }, ...turned];
        const backends = { far: fakeServer().tool('t') };
        await using kit = await testGateway({
          catalogue,
          plugins: [probe('probe', order)],
          plan: { ...plan, plugins: uses },
          backends,
        });
        const client = await kit.client();
        const [name = ''] = await client.toolNames();
        order.length = 0;
        await client.callTool(name);
        expect(order).toEqual(STAGES);
      }
    });
  }
});

describe('the programs', () => {
  proves(
    'choice.general.no-phoning-home',
    'connect only to their configured servers',
    async () => {
      const connects = join(folder, 'connects');
      await writeFile(connects, '');
      const preload = join(import.meta.dirname, '../../support/note-connects.ts');
      const env = { TOOLMGR_TEST_CONNECTS: connects, NODE_OPTIONS: `--import=${preload}` };
      await using server = await recordingServer();
      const file = join(folder, 'vmcp.yaml');
      const backends = [{ name: 'one', url: server.url, transport: 'streamable-http' }];
      await writeFile(file, stringify({ ...HEAD, audit: { enabled: true }, backends }));
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { env });
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      await until(async () => (await cli(['tools', '--url', url])).out.includes('one_echo'));
      expect((await cli(['call', 'one_echo', 'message=hi', '--url', url], { env })).code).toBe(0);
      for (const command of ['validate', 'plan'])
        expect((await cli(['vmcp', command, '-c', file], { env })).code).toBe(0);
      expect(await cli(['vmcp', 'validate', file], { env })).toEqual(
        await cli(['vmcp', 'validate', '-c', file], { env }),
      );
      expect(await cli(['vmcp', 'validate'], { env })).toMatchObject({
        code: 1,
        err: 'toolmgr: name the file: toolmgr vmcp validate -c vmcp.yaml\n',
      });
      serving.signal('SIGTERM');
      await serving.finished;
      const noted = new Set((await readFile(connects, 'utf8')).split('\n').filter((line) => line !== ''));
      const told = [new URL(server.url), new URL(url)].map(({ host }) => `tcp ${host}`);
      expect([...noted].filter((line) => line !== 'lookup 127.0.0.1').sort()).toEqual(told.sort());
    },
    LONG,
  );
});
