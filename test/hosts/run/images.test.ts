import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { RequirementId } from '../../requirements.ts';
import { engineCall, SERVER_IMAGE } from '../../support/container-engine.ts';
import { onEngines } from '../../support/on-engines.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { toolmgrSession } from './toolmgr.ts';

const LONG = 180_000;

interface Inspected {
  readonly Config: {
    readonly Labels: Readonly<Record<string, string>>;
    readonly Env: readonly string[];
    readonly Cmd: readonly string[];
  };
  readonly HostConfig: {
    readonly NetworkMode: string;
    readonly Binds: readonly string[];
    readonly PortBindings: Readonly<Record<string, readonly { readonly HostPort: string }[]>>;
  };
}

const session = toolmgrSession();

onEngines('toolmgr run IMAGE on', (on) => {
  const state = temporaryFolderOfFile('images');

  const runs = (ids: readonly RequirementId[], title: string, test: () => Promise<void>): void =>
    on.proves(ids, title, test, LONG);
  const toolmgr = (...args: string[]) => session(state, args, state, { DOCKER_HOST: `unix://${on.engine.socket}` });
  const inspect = async (container: string): Promise<Inspected> =>
    JSON.parse((await engineCall(on.engine.socket, 'GET', `/v1.41/containers/${container}/json`)).text) as Inspected;
  const endpointOf = (out: string): string => /runs at (\S+)/.exec(out)?.[1] ?? '';
  const call = async (url: string, tool: string, args: Record<string, unknown>): Promise<unknown> => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    try {
      return await client.callTool({ name: tool, arguments: args });
    } finally {
      await client.close();
    }
  };

  runs(
    [
      'run.form.container-image',
      'run.command.container-transport-and-profile',
      'run.option.label',
      'run.option.isolate-network-opt-out',
      'run.form.network-default-bridge',
      'run.option.publish',
      'run.option.volume',
      'run.option.permission-profile',
    ],
    'serves an image over HTTP with labels, mounts, ports and a permission profile, stops it and starts it again',
    async () => {
      await mkdir(join(state, 'data'), { recursive: true });
      await mkdir(join(state, 'more'), { recursive: true });
      const profile = join(state, 'profile.json');
      await writeFile(profile, JSON.stringify({ read: [`${join(state, 'more')}:/more`] }));
      const options = [
        '--name',
        'web',
        '--isolate-network=false',
        '--target-port',
        '3001',
        '-l',
        'team=a',
        '-l',
        'tier=b',
      ];
      const mounts = ['-v', 'data:/data', '-v', `${state}:/state:ro`, '-p', '9', '--permission-profile', profile];
      const ran = await toolmgr('run', ...options, ...mounts, '-e', 'KEY=value', SERVER_IMAGE, '--', 'streamableHttp');
      expect(ran, ran.err).toMatchObject({ code: 0 });
      expect(ran.out).toContain(`the image ${SERVER_IMAGE} over streamable-http`);
      expect(await call(endpointOf(ran.out), 'echo', { message: 'hello' })).toMatchObject({
        content: [{ text: 'Echo: hello' }],
      });
      const { Config, HostConfig } = await inspect('web');
      expect(Config.Labels).toMatchObject({ team: 'a', tier: 'b', 'dev.toolmgr.name': 'web' });
      expect(Config.Env).toContain('KEY=value');
      expect(Config.Cmd).toEqual(['streamableHttp']);
      expect(HostConfig.NetworkMode).toBe('bridge');
      const binds = HostConfig.Binds.map((bind) => bind.split(',')[0]);
      expect(binds).toEqual(
        expect.arrayContaining([
          `${join(state, 'data')}:/data:rw`,
          `${state}:/state:ro`,
          `${join(state, 'more')}:/more:ro`,
        ]),
      );
      expect(Object.keys(HostConfig.PortBindings)).toEqual(expect.arrayContaining(['9/tcp', '3001/tcp']));
      expect((await toolmgr('list')).out).toContain(SERVER_IMAGE);
      expect(await toolmgr('stop', 'web')).toMatchObject({ code: 0 });
      expect((await engineCall(on.engine.socket, 'GET', '/v1.41/containers/web/json')).status).toBe(404);
      expect(await toolmgr('start', 'web')).toMatchObject({ code: 0 });
      expect(await call(endpointOf(ran.out), 'echo', { message: 'again' })).toMatchObject({
        content: [{ text: 'Echo: again' }],
      });
      expect(await toolmgr('rm', '--force', 'web')).toMatchObject({ code: 0 });
      expect((await engineCall(on.engine.socket, 'GET', '/v1.41/containers/web/json')).status).toBe(404);
    },
  );

  runs(
    ['run.option.network', 'run.option.network-drops-isolation', 'run.form.network-host', 'run.form.network-any-mode'],
    'serves an image over stdio without a network, and one over HTTP in the network of the host, without isolation',
    async () => {
      const quiet = await toolmgr(
        'run',
        '--name',
        'alone',
        '--network',
        'none',
        '--transport',
        'stdio',
        SERVER_IMAGE,
        '--',
        'stdio',
      );
      expect(quiet, quiet.err).toMatchObject({ code: 0, err: expect.not.stringContaining('isolat') });
      expect(await call(endpointOf(quiet.out), 'get-sum', { a: 1, b: 2 })).toMatchObject({
        content: [{ text: expect.stringContaining('3') }],
      });
      expect((await inspect('alone')).HostConfig.NetworkMode).toBe('none');
      const host = await toolmgr(
        'run',
        '--name',
        'host',
        '--network',
        'host',
        '--target-port',
        '3001',
        SERVER_IMAGE,
        '--',
        'streamableHttp',
      );
      expect(host, host.err).toMatchObject({
        code: 0,
        err: expect.stringContaining('--network host cannot be isolated'),
      });
      expect((await inspect('host')).HostConfig.NetworkMode).toBe('host');
      expect(await toolmgr('rm', '--force', 'alone', 'host')).toMatchObject({ code: 0 });
    },
  );

  runs(
    ['run.form.network-custom'],
    'joins a network of the engine by its name, and names one that does not exist',
    async () => {
      await engineCall(on.engine.socket, 'POST', '/v1.41/networks/create', { Name: 'own-net' });
      const options = ['--isolate-network=false', '--target-port', '3001', SERVER_IMAGE, '--', 'streamableHttp'];
      const ran = await toolmgr('run', '--name', 'joined', '--network', 'own-net', ...options);
      expect(ran, ran.err).toMatchObject({ code: 0 });
      expect((await inspect('joined')).HostConfig.NetworkMode).toMatch(/own-net|bridge/);
      await toolmgr('rm', '--force', 'joined');
      const absent = await toolmgr('run', '--name', 'absent', '--network', 'no-such-net', ...options);
      expect(absent.code).toBe(1);
      expect(absent.err).toContain('no-such-net');
    },
  );
});
