import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ok, runChecks } from '../../../../hosts/cli/doctor/checks.ts';
import {
  certificateFinding,
  clockDifference,
  portFinding,
  proxyFindings,
} from '../../../../hosts/cli/doctor/network-checks.ts';
import { nodeFinding } from '../../../../hosts/cli/doctor/program-checks.ts';
import { cli } from '../../../support/cli.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('doctor');
});

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
  expect([...new Set(failed)].sort()).toEqual(['certificates', 'named file', 'settings', 'state folder']);
  expect(checks.filter(({ level, fix }) => ['warn', 'fail'].includes(level) && fix === undefined)).toEqual([]);
  expect(checks.find(({ check }) => check === 'clock')).toMatchObject({ level: 'skipped' });
  expect(checks.find(({ check }) => check === 'client files')?.says).toMatch(/\.mcp\.json: 1 server$/);
  expect(checks.find(({ check }) => check === 'gateways')?.says).toBe('0 running');
  expect(checks.find(({ check }) => check === 'proxy')?.says).toContain('http://***@proxy.example:3128');
  expect(ran.out + ran.err).not.toMatch(/pa55word|hidden-token/);
});

proves(
  'ask.doctor.files',
  'doctor checks a named file of a client, a vmcp file and manifests as what they are, with one line for each problem',
  async () => {
    const token = '$' + '{NO_SUCH_TOKEN}';
    const files = {
      '.mcp.json': '{"mcpServers":{"a":{"command":"x"}}} // of a client',
      'config.toml': '[mcp_servers.a]\ncommand = "x"\n',
      'left-out.json': JSON.stringify({ servers: { a: { command: 'x', args: [token] }, b: { url: 'http://x/' } } }),
      'torn.json': '{"mcpServers": {',
      'none.json': '{"mcpServers": {}}',
      'good.yaml': 'backends: [{ name: a, transport: stdio, command: { file: x } }]\n',
      'bad.yaml': 'name: x\nfoo: 1\n',
      'kube.yaml': 'apiVersion: toolmgr.dev/v1beta1\nkind: MCPGroup\nmetadata: { name: x }\nspec: { foo: 1 }\n',
      'vmcp.json': '{"backends": [{"name": "a", "transport": "stdio", "command": {"file": "x"}}]}',
    };
    await Promise.all(Object.entries(files).map(([file, text]) => writeFile(join(folder, file), text)));
    const env = { HOME: folder, npm_config_registry: 'http://127.0.0.1:9/' };
    const { code, out } = await cli(['doctor', ...Object.keys(files), 'absent.json'], { cwd: folder, env });
    const lines = out.split('\n').filter((line) => line.includes('  named file  '));
    const said = lines.map((line) => line.replace(/ +named file +/, ' '));
    expect(code).toBe(1);
    expect(said.filter((line) => line.startsWith('ok'))).toEqual([
      'ok .mcp.json is a client file with 1 server (toolmgr up .mcp.json)',
      'ok config.toml is a client file with 1 server (toolmgr up config.toml)',
      'ok left-out.json is a client file with 1 server (toolmgr up left-out.json)',
      'ok good.yaml is a valid vmcp file (toolmgr vmcp serve -c good.yaml)',
      'ok vmcp.json is a valid vmcp file (toolmgr vmcp serve -c vmcp.json)',
    ]);
    expect(said).toContain('warn left-out.json: a: left out, the environment variable NO_SUCH_TOKEN is not set');
    expect(said.filter((line) => line.startsWith('fail')).map((line) => line.slice(0, 40))).toEqual([
      expect.stringContaining('fail torn.json:1:'),
      expect.stringContaining('fail none.json: no server is left'),
      'fail bad.yaml:1: groupRef: missing, expe',
      'fail bad.yaml:1: aggregation: missing, e',
      'fail bad.yaml:1: outgoingAuth: missing, ',
      'fail bad.yaml:1: incomingAuth: missing, ',
      'fail bad.yaml:2: foo: unknown key "foo" ',
      expect.stringContaining('fail kube.yaml:1: MCPGroup x: spec'),
      'fail absent.json: there is no such file',
    ]);
    expect(out.match(/fix: correct bad\.yaml/g)).toHaveLength(1);
    expect(out).toMatch(/ok +optional packages +\d+ optional features? needs? .*see which: toolmgr doctor --all\n/);

    const served = await cli(['vmcp', 'serve', '-c', '.mcp.json', '--port', '0'], { cwd: folder, env });
    expect(served).toMatchObject({ code: 1, err: expect.stringContaining('serve it (toolmgr up .mcp.json)') });
    const upped = await cli(['up', 'good.yaml', '--port', '0'], { cwd: folder, env });
    expect(upped).toMatchObject({ code: 1, err: expect.stringContaining('toolmgr vmcp serve -c good.yaml') });
  },
  30_000,
);

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
