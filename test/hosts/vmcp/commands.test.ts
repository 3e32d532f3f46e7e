import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { cli as cliProcess, startCli } from '../../support/cli.ts';
import { cliSession } from '../../support/cli-session.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const LONG = 120_000;
const EVERYTHING = join(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

const cli = cliSession();
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('commands');
});

const CONFIG = {
  name: 'dev-vmcp',
  groupRef: 'dev',
  incomingAuth: { type: 'anonymous' },
  outgoingAuth: { source: 'inline' },
  aggregation: {
    conflictResolution: 'prefix',
    tools: [
      {
        workload: 'every',
        overrides: { echo: { name: 'say', description: 'Says it again' } },
        filter: ['say', 'get-sum'],
      },
    ],
  },
  backends: [{ name: 'every', transport: 'stdio', command: { file: process.execPath, args: [EVERYTHING] } }],
};

const write = async (config: object): Promise<string> => {
  const file = join(folder, 'vmcp.yaml');
  await writeFile(file, stringify(config));
  return file;
};

describe('toolmgr vmcp validate', () => {
  proves('ask.vmcp.validate', 'prints a summary of a valid file', async () => {
    const { code, out } = await cli(['vmcp', 'validate', '-c', await write({ ...CONFIG, metadata: { owner: 'me' } })]);
    expect(code).toBe(0);
    expect(out).toMatch(/is valid/);
    for (const part of [
      /name +dev-vmcp/,
      /group +dev/,
      /incoming auth +anonymous/,
      /outgoing auth +inline/,
      /backends +1/,
      /conflicts +prefix/,
      /composites +0/,
      /metadata +owner: me/,
    ]) {
      expect(out).toMatch(part);
    }
    const json = await cli(['vmcp', 'validate', '-c', await write(CONFIG), '--format', 'json']);
    expect(JSON.parse(json.out)).toMatchObject({ valid: true, name: 'dev-vmcp', backends: 1, compositeTools: 0 });
  });

  proves(
    ['ask.vmcp.validate-exit', 'choice.general.never-ignored'],
    'exits with 1 and names each problem with its line, including settings without effect',
    async () => {
      const file = await write({
        ...CONFIG,
        compositeToolRefs: [{ name: 'deploy' }],
        rateLimiting: { perUser: { maxTokens: 1, refillPeriod: '1s' } },
      });
      const { code, out, err } = await cli(['vmcp', 'validate', '-c', file]);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(/vmcp\.yaml:\d+: compositeToolRefs: refers to cluster resources/);
      expect(err).toMatch(/vmcp\.yaml:\d+: rateLimiting\.perUser: needs authentication/);
    },
  );

  it('names a missing file', async () => {
    expect(await cli(['vmcp', 'validate', '-c', '/no/such/file.yaml'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('/no/such/file.yaml: there is no such file'),
    });
  });
});

describe('toolmgr vmcp plan', () => {
  it('prints the plan as YAML without secrets', async () => {
    const outgoingAuth = {
      source: 'inline',
      default: { type: 'header_injection', headerInjection: { headerName: 'X-Key', headerValue: 'hunter2' } },
    };
    const { code, out } = await cli(['vmcp', 'plan', '-c', await write({ ...CONFIG, outgoingAuth })]);
    expect(code).toBe(0);
    expect(out).not.toContain('hunter2');
    expect(parse(out)).toMatchObject({
      name: 'dev-vmcp',
      outgoingAuth: {
        default: { type: 'header_injection', options: { headerName: 'X-Key', headerValue: '[secret]' } },
      },
      limits: { sessions: 10_000 },
    });
  });

  proves('vmcp.config.group-ref', 'passes the group to the backend source', async () => {
    const sourceOf = async (config: object): Promise<unknown> => {
      const { out } = await cli(['vmcp', 'plan', '-c', await write(config)]);
      const { plugins } = parse(out) as { plugins: { use: string; with?: { group?: string } }[] };
      return plugins.flatMap(({ use, with: given }) =>
        use.startsWith('backend-sources/') ? [[use, given?.group]] : [],
      );
    };
    expect(await sourceOf({ ...CONFIG, groupRef: 'mine' })).toEqual([['backend-sources/static', 'mine']]);
    expect(await sourceOf({ ...CONFIG, groupRef: 'mine', backends: undefined })).toEqual([
      ['backend-sources/group', 'mine'],
    ]);
  });
});

describe('toolmgr vmcp explain', () => {
  proves(
    ['ask.vmcp.explain', 'ask.vmcp.explain-plugin', 'choice.network.explained'],
    'names backend, original name, the plugins that changed a tool, and those that may refuse it',
    async () => {
      const file = await write(CONFIG);
      const env = { HTTPS_PROXY: 'http://ada:hidden@proxy.test:1', TOOLMGR_TEST_LEAK: 'x' };
      const text = await cli(['vmcp', 'explain', 'every_say', '-c', file], { env });
      expect(text.code).toBe(0);
      expect(text.out).toMatch(/inherits +.*\bHTTPS_PROXY\b.*\bPATH\b/);
      expect(text.out).not.toMatch(/hidden|TOOLMGR_TEST_LEAK/);
      expect(text.out).toMatch(/backend +every \(stdio, ready, MCP 2025-11-25\)/);
      expect(text.out).toMatch(/original name +echo/);
      expect(text.out).toMatch(/clients see it yes/);
      const json = JSON.parse(
        (await cli(['vmcp', 'explain', 'every_say', '-c', file, '--format', 'json'])).out,
      ) as object;
      expect(json).toMatchObject({
        found: true,
        original: 'echo',
        advertised: true,
        backend: { name: 'every', outgoingAuth: 'unauthenticated' },
        mayRefuse: { authenticate: ['incoming-auth/anonymous'] },
      });
      expect((json as { shapedBy: string[] }).shapedBy).toEqual(
        expect.arrayContaining([expect.stringContaining('override'), expect.stringContaining('prefix')]),
      );
    },
    LONG,
  );

  it(
    'reports why clients do not see a hidden tool, and suggests names for an unknown one',
    async () => {
      const file = await write(CONFIG);
      const hidden = await cli(['vmcp', 'explain', 'every_get-env', '-c', file]);
      expect(hidden.out).toMatch(/clients see it no, hidden by filter/);
      const unknown = await cli(['vmcp', 'explain', 'echo', '-c', file]);
      expect(unknown.code).toBe(1);
      expect(unknown.out).toMatch(/no tool is named echo\ndid you mean: .*every_say/);
      const misspelt = await cli(['vmcp', 'explain', 'every.ecoh', '-c', file]);
      expect(misspelt).toMatchObject({ code: 1, out: 'no tool is named every.ecoh\ndid you mean: every.echo\n' });
    },
    LONG,
  );

  it('writes no audit line and needs no Redis', async () => {
    const logFile = join(folder, 'audit.log');
    const more = { audit: { enabled: true, logFile }, sessionStorage: { provider: 'redis', address: '127.0.0.1:9' } };
    const { code, err } = await cli(['vmcp', 'explain', 'every_say', '-c', await write({ ...CONFIG, ...more })]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    await expect(stat(logFile)).rejects.toThrow(/ENOENT/);
  });

  it('reports what to do when nothing runs at a URL', async () => {
    expect(await cli(['vmcp', 'explain', 'x', '--url', 'http://127.0.0.1:9/mcp'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/nothing answers at http:\/\/127\.0\.0\.1:9; start a gateway/),
    });
  });
});

describe('a group of workloads', () => {
  proves(
    [
      'ask.vmcp.serve-group',
      'ask.vmcp.group-quick-mode',
      'ask.vmcp.init',
      'ask.vmcp.init-mode',
      'ask.vmcp.init-round-trip',
      'choice.standalone.static-or-group',
      'choice.standalone.group-change-seen',
    ],
    'is served by its name with its changes, and vmcp init writes a file that can be served',
    async () => {
      const surroundings = { env: { TOOLMGR_STATE_DIR: join(folder, 'state') } };
      const run = (...args: string[]) => cli(args, surroundings);
      try {
        expect(
          (await run('run', '--group', 'dev', '--name', 'mem', 'npx://@modelcontextprotocol/server-memory')).code,
        ).toBe(0);
        await using byGroup = startCli(['vmcp', 'serve', '--group', 'dev', '--port', '0'], surroundings);
        const [, url = ''] = await byGroup.printed(/dev serves (http:\S+)/);
        await until(async () => (await run('tools', '--url', url)).out.includes('mem_read_graph'), 30_000);

        await run('run', '--group', 'dev', '--name', 'late', 'npx://@modelcontextprotocol/server-memory');
        await until(async () => (await run('tools', '--url', url)).out.includes('late_read_graph'), 30_000);
        await run('rm', '--force', 'late');
        await until(async () => !(await run('tools', '--url', url)).out.includes('late_read_graph'), 30_000);

        const file = join(folder, 'dev.yaml');
        expect((await run('vmcp', 'init', '-g', 'dev', '-o', file)).code).toBe(0);
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        expect(parse(await readFile(file, 'utf8'))).toEqual({
          name: 'dev-vmcp',
          groupRef: 'dev',
          incomingAuth: { type: 'anonymous' },
          outgoingAuth: { source: 'inline', default: { type: 'unauthenticated' } },
          aggregation: { conflictResolution: 'prefix', conflictResolutionConfig: { prefixFormat: '{workload}_' } },
          backends: [{ name: 'mem', url: expect.stringMatching(/^http:/), transport: 'streamable-http' }],
        });
        expect((await run('vmcp', 'init', '-g', 'dev')).out).toBe(await readFile(file, 'utf8'));
        expect(await run('vmcp', 'init', '-g', 'dev', '-o', file)).toMatchObject({
          code: 1,
          err: expect.stringContaining('--force replaces it'),
        });
        await using byFile = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], surroundings);
        const [, second = ''] = await byFile.printed(/dev-vmcp serves (http:\S+)/);
        await until(async () => (await run('tools', '--url', second)).out.includes('mem_read_graph'), 30_000);
        expect((await run('call', 'mem_read_graph', '--url', second)).code).toBe(0);
      } finally {
        await run('rm', '--force', 'mem', 'late');
      }
    },
    LONG,
  );

  it('without running workloads gives no file and explains how to start one', async () => {
    const ended = await cli(['vmcp', 'init', '-g', 'none'], { env: { TOOLMGR_STATE_DIR: folder } });
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining('toolmgr run --group none') });
  });
});

describe('the command line', () => {
  it(
    'is started by its binary, with its exit code and its signals',
    async () => {
      const script = join(import.meta.dirname, '../../../hosts/bin/toolmgr.js');
      expect(await cliProcess(['version'], { script, cwd: folder })).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^\d/),
      });
      expect(await cliProcess(['vmpc'], { script, cwd: folder })).toMatchObject({ code: 1 });
      const file = await write({
        ...CONFIG,
        backends: [{ name: 'a', url: 'http://127.0.0.1:9/mcp', transport: 'sse' }],
        aggregation: {},
      });
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { script });
      await serving.printed(/dev-vmcp serves/);
      serving.signal('SIGTERM');
      expect((await serving.finished).code).toBe(0);
    },
    LONG,
  );

  proves('choice.general.unknown-flag-refused', 'names the nearest flag and command', async () => {
    expect(await cli(['vmcp', 'serve', '--prt', '1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('--port'),
    });
    expect(await cli(['vmpc'])).toMatchObject({ code: 1, err: expect.stringMatching(/Did you mean vmcp/) });
    expect(await cli(['vmcp', 'serv'])).toMatchObject({ code: 1, err: expect.stringMatching(/Did you mean serve/) });
  });

  proves('ask.vmcp.exit-codes', 'prints help and version with 0, and the exit codes in the help', async () => {
    const help = await cli(['--help']);
    expect(help.code).toBe(0);
    const codes = [...help.out.slice(help.out.indexOf('Exit codes:')).matchAll(/^ +(\d+) +(.+)$/gm)];
    expect(codes.map(([, code, means]) => `${code} ${means?.split(/[:,;]/)[0]}`)).toEqual([
      '0 success',
      '1 wrong usage',
      '2 skill sync --check',
      '3 skill sync',
      '4 skill',
      '5 call',
      '10 wait',
      '11 wait',
      '12 wait',
      '130 Ctrl-C before the command was finished',
    ]);
    for (const args of [['version'], ['--version']]) {
      expect(await cli(args)).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: '' });
    }
    expect((await cli(['vmcp', 'serve', '--help'])).out).toMatch(/--port.*4483[\s\S]*Examples:/);
  });
});
