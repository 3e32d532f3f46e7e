import { mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkloads, workloadsDir } from '@toolmgr/plugins/kit/workloads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clientConfigOf } from '../../../hosts/run/commands/list.ts';
import type { WorkloadSummary } from '../../../hosts/workloads/planning/summary.ts';
import { hidePackage } from '../../support/hide-package.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startToolmgr, toolmgrSession } from './toolmgr.ts';

const TELLS = [process.execPath, '--', join(import.meta.dirname, 'servers/tells.mjs')];
const LONG = 180_000;
const ROOT = join(import.meta.dirname, '../../..');

let state: string;

beforeEach(() => {
  state = temporaryFolder('commands');
});

afterEach(async () => {
  if ((await readWorkloads(state)).length > 0) await toolmgr('rm', '--force', '--all');
}, LONG);

const session = toolmgrSession();
const toolmgr = (...args: string[]) => session(state, args);
const json = async <T>(...args: string[]): Promise<T> => JSON.parse((await toolmgr(...args)).out) as T;

describe('commands for workloads', () => {
  it(
    'lists, shows, restarts, stops and removes workloads by name, by group and all',
    async () => {
      const secret = ['-e', 'TOKEN=s3cret-value'];
      const first = await toolmgr('run', '--name', 'one', '--group', 'dev', ...secret, ...TELLS, '--key', 's3cret-key');
      expect(first.out).toContain('dev is new');
      expect((await toolmgr('run', '--name', 'two', '--group', 'dev', ...TELLS)).out).not.toContain('is new');
      await toolmgr('run', '--name', 'three', ...TELLS);

      const names = async (...args: string[]) =>
        (await json<WorkloadSummary[]>('list', '--format', 'json', ...args)).map(({ name }) => name);
      expect(await names()).toEqual(['one', 'three', 'two']);
      expect(await names('--group', 'dev')).toEqual(['one', 'two']);
      expect(await names('-l', 'team=a')).toEqual([]);

      const status = await json<WorkloadSummary>('status', 'one', '--format', 'json');
      expect(status).toMatchObject({
        ...{ name: 'one', group: 'dev', status: 'running', transport_type: 'stdio', proxy_mode: 'streamable-http' },
        ...{ remote: false, labels: {}, tools: [], restarts: 0, package: process.execPath },
      });
      expect(Date.parse(status.started_at ?? '')).toBeGreaterThan(Date.parse(status.created_at ?? ''));
      const text = await toolmgr('status', 'one');
      expect(text.out).toMatch(new RegExp(`status +running\\n[^]*endpoint +${status.url}\\n`));
      expect((await toolmgr('status', 'onee')).err).toContain('did you mean one?');

      const clients = await json<ReturnType<typeof clientConfigOf>>('list', '--format', 'mcpservers');
      expect(clients.mcpServers.one).toEqual({ type: 'http', url: status.url });

      const inspected = await toolmgr('inspect', 'one');
      expect(inspected.out).not.toContain('s3cret');
      expect(JSON.parse(inspected.out)).toMatchObject({
        configuration: { env_vars: { TOKEN: '[secret]' }, group: 'dev', session_ttl: '2h' },
        run: { generation: expect.any(Number) },
        files: { folder: join(state, 'workloads/one') },
      });

      expect((await toolmgr('restart', '--group', 'dev')).out).toMatch(/one runs at .*\ntwo runs at /);
      const again = await json<WorkloadSummary>('status', 'one', '--format', 'json');
      expect(again).toMatchObject({ url: status.url, status: 'running' });
      expect(again.pid).not.toBe(status.pid);
      expect(await names('--all')).toHaveLength(3);

      expect((await toolmgr('stop', '--group', 'dev')).out.split('\n').sort()).toEqual([
        '',
        'one is stopped',
        'two is stopped',
      ]);
      expect(await names()).toEqual(['three']);
      expect(await names('-a')).toEqual(['one', 'three', 'two']);
      expect((await toolmgr('list')).err).toContain('2 stopped: toolmgr list --all shows them');

      expect(await toolmgr('rm', 'three')).toMatchObject({ code: 1, err: expect.stringContaining('--force') });
      expect((await toolmgr('rm', '--all', '--force')).code).toBe(0);
      expect(await names('--all')).toEqual([]);
    },
    LONG,
  );

  it('refuses a selection that is empty or twofold, and an unknown group', async () => {
    for (const command of ['start', 'restart', 'stop', 'rm']) {
      expect(await toolmgr(command)).toMatchObject({ code: 1, err: expect.stringContaining('--all or --group NAME') });
    }
    expect((await toolmgr('stop', 'a', '--all')).err).toContain('only one of them');
    expect((await toolmgr('stop', '--group', 'defualt')).err).toContain('did you mean default?');
    expect((await toolmgr('stop', '--timeout', 'soon', 'a')).err).toContain('expected whole seconds');
  });

  it(
    'creates, lists and removes groups; default stays, and a group with workloads is kept',
    async () => {
      expect((await toolmgr('group', 'create', 'dev')).out).toContain('group dev is created');
      expect((await toolmgr('group', 'create', 'dev')).err).toContain('there is a group dev already');
      expect((await toolmgr('group', 'create', '../dev')).err).toContain('letters, digits');
      expect((await toolmgr('run', '--name', 'one', '--group', 'dev', ...TELLS)).out).not.toContain('is new');
      expect(await json('group', 'list', '--format', 'json')).toEqual([
        { name: 'default', workloads: [] },
        { name: 'dev', workloads: ['one'] },
      ]);
      expect((await toolmgr('group', 'list')).out).toMatch(/^NAME +WORKLOADS\ndefault +-\ndev +one\n$/);
      expect((await toolmgr('group', 'rm', 'default')).err).toContain('cannot be removed');
      expect((await toolmgr('group', 'rm', 'dev')).err).toContain('--with-workloads');
      expect((await toolmgr('group', 'rm', 'dev', '--with-workloads')).out).toBe(
        'one is removed\ngroup dev is removed\n',
      );
      expect(await json('group', 'list', '--format', 'json')).toEqual([{ name: 'default', workloads: [] }]);
    },
    LONG,
  );

  proves('choice.run.no-engine', 'says which container engines answer, and fails when none does', async () => {
    const env = { DOCKER_HOST: `unix://${join(state, 'no.sock')}` };
    const checked = await session(state, ['runtime', 'check'], '/', env);
    expect(checked).toMatchObject({ code: 1, out: expect.stringContaining('there is no such socket') });
    expect(checked.err).toContain('--runtime process');
    const data = await session(state, ['runtime', 'check', '--format', 'json'], '/', env);
    expect(JSON.parse(data.out)).toMatchObject([{ from: 'DOCKER_HOST', used: false }]);
    const run = await session(state, ['run', '--name', 'boxed', 'example/server:1'], '/', env);
    expect(run).toMatchObject({ code: 1, err: expect.stringContaining('there is no such socket') });
    expect(run.err).toContain('--runtime process');
    expect(await json('list', '--all', '--format', 'json')).toEqual([]);
  });

  proves(
    'choice.run.no-engine-client',
    'runs packages as processes where the client of the engines is not installed, and refuses containers',
    async () => {
      const hide = hidePackage('dockerode');
      const named = { ...hide, DOCKER_HOST: `unix://${join(state, 'no.sock')}` };
      const run = (env: Readonly<Record<string, string>>, ...args: string[]) =>
        startToolmgr(state, args, ROOT, { TOOLMGR_RUNTIME: '', ...env }).ended;
      const client =
        /the optional package dockerode is not installed; install it: npm install .*dockerode@5 tar-stream@3/;
      const ran = await run(hide, 'run', '--name', 'free', 'npx://@modelcontextprotocol/server-everything');
      expect(ran, ran.err).toMatchObject({ code: 0, out: expect.stringContaining('not isolated: it has your rights') });
      expect(ran.err).toMatch(
        new RegExp(`^warning no container engine can be used \\(${client.source}\\): npx://.* runs as a process`),
      );
      expect(await run(named, 'run', 'npx://pkg')).toMatchObject({ code: 1, err: expect.stringMatching(client) });
      const boxed = [['example/server:1'], ['--foreground', 'example/server:1'], ['--runtime=container', 'npx://pkg']];
      const first = /^toolmgr: boxed could not be started: it needs a container, and /;
      for (const args of boxed) {
        const { code, err } = await run(hide, 'run', '--name', 'boxed', ...args);
        expect([code, err]).toEqual([1, expect.stringMatching(new RegExp(first.source + client.source))]);
      }
      const checked = await run(named, 'runtime', 'check');
      expect(checked).toMatchObject({ code: 1, out: expect.stringContaining('no engine answers there') });
      expect(checked.err).toMatch(client);
    },
    LONG,
  );

  it(
    'ends every run that fails with the exit code that the help gives for it',
    async () => {
      const help = (await toolmgr('--help')).out;
      const codes = [...help.slice(help.indexOf('Exit codes:')).matchAll(/^ +(\d+) +(.+)$/gm)];
      const ofRun = codes.filter(([, , means]) => /\brun\b/.test(means ?? '')).map(([, code]) => Number(code));
      expect(ofRun).toHaveLength(1);
      await toolmgr('run', '--name', 'taken', ...TELLS);
      const failing: readonly (readonly string[])[] = [
        ['--name', 'taken', ...TELLS],
        ['--runtime', 'process', 'no-such-program'],
        ['npx://no such package'],
        ['--name', 'ends', process.execPath, '--', '-e', 'process.exit(7)'],
      ];
      const ran = await Promise.all(failing.map((args) => toolmgr('run', ...args)));
      expect(ran.map(({ code, err }) => [code, err === ''])).toEqual(failing.map(() => [ofRun[0], false]));
    },
    LONG,
  );

  it('removes what killed commands left of removed workloads', async () => {
    const left = join(workloadsDir(state), '.gone-a-1');
    await mkdir(left, { recursive: true });
    const old = new Date(Date.now() - 120_000);
    await utimes(left, old, old);
    expect((await toolmgr('logs', 'prune')).out).toBe('1 folder removed\n');
    expect((await toolmgr('logs', 'prune')).out).toBe('nothing was left\n');
  });

  it('gives clients only workloads with an endpoint', () => {
    const workload = { name: 'a', url: 'http://h/sse', proxy_mode: 'sse' } as WorkloadSummary;
    expect(clientConfigOf([workload, { ...workload, name: 'b', url: '' }])).toEqual({
      mcpServers: { a: { type: 'sse', url: 'http://h/sse' } },
    });
  });
});
