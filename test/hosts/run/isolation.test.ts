import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { readWorkload, readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { RequirementId } from '../../requirements.ts';
import { engineCall, SERVER_IMAGE } from '../../support/container-engine.ts';
import { onEngines } from '../../support/on-engines.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { toolmgrSession } from './toolmgr.ts';

const LONG = 240_000;

/** Sends request lines to the proxy of the container, all at once, and prints the status line and the last line of each answer. */
const RAW = `
const { port } = new URL(process.env.HTTP_PROXY);
const send = ([line, host]) => new Promise((resolve) => {
  const socket = require('node:net').connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (part) => { text += part; });
  socket.on('close', () => resolve(text.split('\\r\\n')[0] + ' ' + text.trim().split('\\n').at(-1)));
  socket.write(line + ' HTTP/1.1\\r\\nHost: ' + host + '\\r\\nConnection: close\\r\\n\\r\\n');
  setTimeout(() => socket.destroy(), 8000).unref();
});
Promise.all(JSON.parse(process.argv[1]).map(send)).then((all) => console.log('answers: ' + JSON.stringify(all)));
`;

const session = toolmgrSession();

onEngines('the isolated network of an image on', (on) => {
  const state = temporaryFolderOfFile('isolation');

  afterAll(async () => {
    if ((await readWorkloads(state)).length > 0) await toolmgr('rm', '--force', '--all'); // left by a test that failed
  }, LONG);

  const runs = (ids: readonly RequirementId[], title: string, test: () => Promise<void>): void =>
    on.proves(ids, title, test, LONG);
  const toolmgr = (...args: string[]) => session(state, args, state, { DOCKER_HOST: `unix://${on.engine.socket}` });
  const post = async (path: string, body: object): Promise<string> =>
    (await engineCall(on.engine.socket, 'POST', `/v1.41${path}`, body)).text;
  const get = async (path: string) => JSON.parse((await engineCall(on.engine.socket, 'GET', `/v1.41${path}`)).text);
  /** Runs a command in a container and gives what it printed. */
  const inside = async (container: string, ...command: string[]): Promise<string> => {
    const options = { AttachStdout: true, AttachStderr: true, Cmd: command };
    const { Id } = JSON.parse(await post(`/containers/${container}/exec`, options)) as { Id: string };
    return (await post(`/exec/${Id}/start`, { Detach: false })).replace(/[^\x20-\x7e\n]/g, '');
  };
  /** The answers of the container's proxy to request lines, each with its `Host`. */
  const raw = async (container: string, lines: readonly (readonly [line: string, host?: string])[]) => {
    const sent = lines.map(([line, host = 'other.example']) => [line, host]);
    const printed = await inside(container, 'node', '-e', RAW, '--', JSON.stringify(sent));
    const answers = /answers: (.*)/.exec(printed)?.[1];
    if (answers === undefined) throw new Error(`no answers: ${printed}`);
    return JSON.parse(answers) as readonly string[];
  };
  /** A server in a container of a network that others on this machine do not use. */
  const neighbour = async (text: string, network: string): Promise<string> => {
    const serve = `require('node:http').createServer((q, s) => s.end(${JSON.stringify(text)} + ' for ' + q.headers.host)).listen(80)`;
    const { Id } = JSON.parse(
      await post('/containers/create', {
        ...{ Image: SERVER_IMAGE, Entrypoint: ['node', '-e', serve], Cmd: [] },
        HostConfig: { NetworkMode: network },
      }),
    );
    await post(`/containers/${Id}/start`, {});
    const { NetworkSettings } = await get(`/containers/${Id}/json`);
    return NetworkSettings.Networks[network].IPAddress as string;
  };
  const names = async (): Promise<string[]> =>
    (await get('/containers/json?all=true&filters={"label":["dev.toolmgr=true"]}')).map(
      ({ Names }: { Names: string[] }) => Names[0],
    );
  const endpointOf = (out: string): string => (/runs at (\S+)/.exec(out)?.[1] ?? '').replace(/\/sse$/, '/mcp');
  const echo = async (url: string): Promise<unknown> => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    try {
      return await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
    } finally {
      await client.close();
    }
  };
  const http = ['--transport', 'streamable-http', '--target-port', '3001'];

  runs(
    ['run.option.isolate-network'],
    'reaches what the profile allows and nothing else, by its proxy only, and leaves nothing behind',
    async () => {
      const Subnet = `10.${150 + Math.floor(Math.random() * 100)}.${process.pid % 250}.0/24`;
      await post('/networks/create', { Name: 'street', IPAM: { Config: [{ Subnet }] } });
      const [friend, stranger] = [await neighbour('friend', 'street'), await neighbour('stranger', 'street')];
      await using onHost = await serverOnThisMachine();
      const profile = join(state, 'friend.json');
      await writeFile(
        profile,
        JSON.stringify({
          network: { outbound: { allow_host: [`${friend}/32`, 'allowed.invalid'], allow_port: [80] } },
        }),
      );
      const options = ['--name', 'web', '--permission-profile', profile, ...http];
      const ran = await toolmgr('run', ...options, SERVER_IMAGE, '--', 'streamableHttp');
      expect(ran, ran.err).toMatchObject({ code: 0, err: expect.not.stringContaining('warning') });
      expect(await echo(endpointOf(ran.out))).toMatchObject({ content: [{ text: 'Echo: hello' }] });

      expect(await inside('web', 'wget', '-q', '-O', '-', `http://${friend}/`)).toContain(`friend for ${friend}`);
      const refused = /403 .*the permission profile does not allow it/;
      const onThisMachine = ['host.docker.internal', '172.17.0.1'].map(
        (gateway) => [`CONNECT ${gateway}:${onHost.port}`, undefined, /403 .*container host/] as const,
      );
      const requests = [
        [`GET http://${friend}/`, stranger, new RegExp(`200 OK friend for ${friend}`)],
        [`GET http://${stranger}/`, friend, refused],
        [`CONNECT ${stranger}:80`, undefined, /403 .*does not allow it/],
        [`CONNECT ${friend}:81`, undefined, /403 .*does not allow it/],
        ['CONNECT 169.254.169.254:80', undefined, /403/],
        [`GET http://user:pass@${friend}/`, undefined, /400 .*user name or password/],
        ['GET /relative', undefined, /400/],
        ['CONNECT allowed.invalid:80', undefined, /502 .*its name was not resolved/],
        ...onThisMachine,
      ] as const;
      const answers = await raw(
        'web',
        requests.map(([line, host]) => [line, host] as const),
      );
      for (const [at, [line, , expected]] of requests.entries()) expect(answers[at], line).toMatch(expected);
      // there is no way around the proxy
      const others = [friend, '172.17.0.1', '10.88.0.1', '1.1.1.1'];
      const tries = others.map((address) => `nc -w 2 ${address} 80 2>&1; echo "tried ${address}"`).join('; ');
      const tried = (await inside('web', 'sh', '-c', tries)).split(/tried \S+/).slice(0, -1);
      expect(tried).toEqual(others.map(() => expect.stringMatching(/Network.*unreachable|No route/)));
      expect(await inside('web', 'cat', '/proc/net/dev')).not.toMatch(/eth|veth|tap/);
      const logs = (await toolmgr('logs', 'web')).out;
      expect(logs).toContain(`network isolation: the connection to ${stranger}:80 is not allowed`);

      expect((await get('/containers/web/json')).HostConfig.NetworkMode).toMatch(/^container:/);
      const exported = JSON.parse((await toolmgr('export', 'web')).out);
      expect(exported).toMatchObject({ isolate_network: true, allow_docker_gateway: false });
      expect(await toolmgr('rm', '--force', 'web')).toMatchObject({ code: 0 });
      expect(await names()).toEqual([]);
    },
  );

  describe('over stdio', () => {
    const data = (): string => join(state, 'data');
    let blockedOut: string;

    beforeAll(async () => {
      await mkdir(join(data(), 'keys/deep'), { recursive: true });
      await mkdir(join(state, 'config/toolmgr'), { recursive: true });
      for (const path of ['.env', 'open.txt', 'keys/deep/id', 'a.pem', 'public.pem']) {
        await writeFile(join(data(), path), `content of ${path}`);
      }
      await writeFile(join(state, 'config/toolmgr/.toolmgrignore'), '*.pem\n');
      await writeFile(join(data(), '.toolmgrignore'), '# secrets\n.env\n/keys/\n!public.pem\n');
      const profile = join(state, 'one-port.json');
      const outbound = { allow_host: ['a.example'], allow_port: [443] };
      await writeFile(profile, JSON.stringify({ network: { outbound } }));
      const shared = ['--transport', 'stdio', '-v', `${data()}:/data`];
      const image = [SERVER_IMAGE, '--', 'stdio'];
      const own = ['--isolate-network', '--print-resolved-overlays'];
      const blocked = await toolmgr('run', '--name', 'blocked', ...own, ...shared, ...image);
      expect(blocked, blocked.err).toMatchObject({ code: 0 });
      blockedOut = blocked.out;
      const more = ['--allow-docker-gateway', '--permission-profile', profile, '--ignore-globally=false'];
      const opened = await toolmgr('run', '--name', 'open', ...more, ...shared, ...image);
      expect(opened, opened.err).toMatchObject({ code: 0, out: expect.not.stringContaining('hidden') });
      for (const { out } of [blocked, opened]) {
        expect(await echo(endpointOf(out))).toMatchObject({ content: [{ text: 'Echo: hello' }] });
      }
    }, LONG);
    afterAll(async () => {
      expect(await toolmgr('rm', '--force', 'blocked', 'open')).toMatchObject({ code: 0 });
      expect(await names()).toEqual([]);
    }, LONG);

    runs(
      [
        'run.option.allow-docker-gateway',
        'run.option.allow-docker-gateway-hosts',
        'run.option.allow-docker-gateway-blocked',
        'run.option.allow-docker-gateway-ports',
      ],
      'reaches this machine by the gateway names only with the flag, at any port',
      async () => {
        await using onHost = await serverOnThisMachine();
        const gateways = ['host.docker.internal', 'host.containers.internal', 'gateway.docker.internal', '172.17.0.1'];
        const lines = gateways.map((gateway) => [`GET http://${gateway}:${onHost.port}/`] as const);
        const [refused, answered] = [
          await raw('blocked', lines),
          await raw('open', [...lines, ['CONNECT 127.0.0.1:22']]),
        ];
        expect(refused).toEqual(gateways.map(() => expect.stringMatching(/403 .*container host/)));
        expect(answered).toEqual([
          ...gateways.map(() => expect.stringContaining('200 OK on this machine')),
          expect.stringContaining('403'),
        ]);
      },
    );

    runs(
      ['run.option.ignore-globally', 'run.option.ignore-globally-file', 'run.option.print-resolved-overlays'],
      'hides what the ignore files of a mounted folder and of the user name, in writable mounts too',
      async () => {
        expect(blockedOut.match(/hidden from the container: .*/g)?.sort()).toEqual([
          'hidden from the container: /data/.env (file)',
          'hidden from the container: /data/a.pem (file)',
          'hidden from the container: /data/keys (directory)',
          'hidden from the container: /data/public.pem (file)',
        ]);
        const read = async (path: string) => (await inside('blocked', 'cat', `/data/${path}`)).trim();
        expect(await read('open.txt')).toContain('content of open.txt');
        expect(await read('public.pem')).toBe('');
        expect(await read('.env')).toBe('');
        expect(await read('a.pem')).toBe('');
        expect(await inside('blocked', 'ls', '-A', '/data/keys')).toBe('');
        expect(await inside('blocked', 'touch', '/data/keys/new')).toContain('Read-only');
        expect(await inside('blocked', 'sh', '-c', 'echo x > /data/.env')).toMatch(/Read-only|denied/);
        const file = '/data/.toolmgrignore';
        const changes = [`echo > ${file}`, `rm ${file}`, `mv ${file} /data/x`, `ln -sf /dev/null ${file}`];
        const all = [...changes, `touch /data/y && mv /data/y ${file}`];
        await inside('blocked', 'sh', '-c', all.map((change) => `busybox sh -c '${change}'`).join('; '));
        expect(await readFile(join(data(), '.toolmgrignore'), 'utf8')).toContain('/keys/');
        expect(await inside('open', 'cat', '/data/a.pem')).toContain('content of a.pem');
        expect(JSON.parse((await toolmgr('export', 'open')).out)).toMatchObject({
          ignore_config: { loadGlobal: false, printOverlays: false },
        });
      },
    );
  });

  on.runs(
    'serves HTTP+SSE, publishes ports on this machine, and removes what a killed proxy left',
    async () => {
      const options = ['--name', 'killed', '--transport', 'sse', '--target-port', '3001', '-p', '3001'];
      const ran = await toolmgr('run', ...options, SERVER_IMAGE, '--', 'sse');
      expect(ran, ran.err).toMatchObject({ code: 0 });
      const port = /published at 127\.0\.0\.1:(\d+)/.exec((await toolmgr('logs', 'killed')).out)?.[1];
      expect((await fetch(`http://127.0.0.1:${port}/nothing`)).status).toBe(404);
      const kill = async (): Promise<void> => {
        const { pid = 0 } = (await readWorkload(state, 'killed'))?.status.proxy ?? {};
        expect(pid).toBeGreaterThan(0);
        process.kill(pid, 'SIGKILL');
        // the sidecar ends with the proxy
        await until(async () => {
          const running = await get('/containers/json?filters={"label":["dev.toolmgr.role=network"]}');
          return running.length === 0;
        });
      };
      await kill();
      const again = await toolmgr('start', 'killed');
      expect(again, again.err).toMatchObject({ code: 0 });
      expect(await echo(endpointOf(again.out))).toMatchObject({ content: [{ text: 'Echo: hello' }] });
      expect((await names()).length).toBe(2);
      await kill();
      expect(await toolmgr('rm', 'killed')).toMatchObject({ code: 0 });
      expect(await names()).toEqual([]);
    },
    LONG,
  );
});

/** A server of this machine that listens on all its addresses. */
async function serverOnThisMachine(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((_, response) => response.end('on this machine'));
  await once(server.listen(0, '0.0.0.0'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
