import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ok, runChecks } from '../../../../hosts/cli/doctor/checks.ts';
import {
  certificateFinding,
  clockDifference,
  portFinding,
  proxyFindings,
} from '../../../../hosts/cli/doctor/network-checks.ts';
import { nodeFinding } from '../../../../hosts/cli/doctor/program-checks.ts';
import { cli } from '../../../support/cli.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolmgr-doctor-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('doctor checks the machine, names the fix of each fault, prints no secret, and ends with 1 when a check fails', async () => {
  await mkdir(join(folder, 'config/toolmgr'), { recursive: true });
  await writeFile(join(folder, 'config/toolmgr/config.yaml'), 'registry_ulr: x\n');
  await writeFile(join(folder, 'vmcp.yaml'), 'name: x\n');
  await writeFile(join(folder, '.mcp.json'), '{"mcpServers":{"a":{"command":"x","env":{"T":"hidden-token"}}}}');
  await mkdir(join(folder, 'state'));
  await chmod(join(folder, 'state'), 0o777);
  const env = {
    TOOLMGR_STATE_DIR: join(folder, 'state'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    HOME: folder,
    HTTPS_PROXY: 'http://ada:pa55word@proxy.example:3128',
    NODE_EXTRA_CA_CERTS: join(folder, 'missing.pem'),
    npm_config_registry: 'http://127.0.0.1:9/',
  };
  const ran = await cli(['doctor', 'vmcp.yaml', '--json'], { cwd: folder, env });
  const { checks, ok: isOk } = JSON.parse(ran.out) as {
    ok: boolean;
    checks: readonly { check: string; level: string; says: string; fix?: string }[];
  };
  expect([ran.code, isOk]).toEqual([1, false]);
  const failed = checks.filter(({ level }) => level === 'fail').map(({ check }) => check);
  expect([...new Set(failed)].sort()).toEqual(['certificates', 'settings', 'state folder', 'vmcp file']);
  expect(checks.filter(({ level, fix }) => ['warn', 'fail'].includes(level) && fix === undefined)).toEqual([]);
  expect(checks.find(({ check }) => check === 'clock')).toMatchObject({ level: 'skipped' });
  expect(checks.find(({ check }) => check === 'client files')?.says).toMatch(/\.mcp\.json: 1 server$/);
  expect(checks.find(({ check }) => check === 'gateways')?.says).toBe('0 running');
  expect(checks.find(({ check }) => check === 'proxy')?.says).toContain('http://***@proxy.example:3128');
  expect(ran.out + ran.err).not.toMatch(/pa55word|hidden-token/);
});

it('a check that hangs or throws is a warning, and the others are reported', async () => {
  const found = await runChecks(
    [
      { name: 'slow', run: () => new Promise(() => {}) },
      { name: 'broken', run: () => Promise.reject(new Error('no such folder')) },
      { name: 'fine', run: async () => ok('yes') },
    ],
    20,
  );
  expect(found.map(({ check, level }) => [check, level])).toEqual([
    ['slow', 'warn'],
    ['broken', 'warn'],
    ['fine', 'ok'],
  ]);
});

it('doctor judges versions, proxies, certificates and clocks', async () => {
  expect(nodeFinding('20.11.0').level).toBe('fail');
  expect(nodeFinding('24.1.0').level).toBe('ok');
  expect(proxyFindings({})[0]?.level).toBe('ok');
  expect(proxyFindings({ https_proxy: 'http://p:1', no_proxy: 'a, localhost' })[0]?.level).toBe('ok');
  expect(proxyFindings({ HTTP_PROXY: 'http://p:1' })[0]?.fix).toContain('NO_PROXY');
  expect(proxyFindings({ HTTP_PROXY: 'http://[' })[0]?.level).toBe('fail');
  await writeFile(join(folder, 'empty.pem'), 'nothing');
  expect((await certificateFinding({ NODE_EXTRA_CA_CERTS: join(folder, 'empty.pem') })).says).toContain('no PEM');
  expect(clockDifference(0, 20_000).level).toBe('ok');
  expect(clockDifference(0, 90_000).level).toBe('fail');
});

it('doctor sees that a port is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  expect((await portFinding(port, 'up', '--port')).level).toBe('warn');
  await new Promise((resolve) => server.close(resolve));
  expect((await portFinding(port, 'up', '--port')).level).toBe('ok');
});
