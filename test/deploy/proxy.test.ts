import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import getPort from 'get-port';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { isInstalled } from '../../scripts/rigs/run-tool.ts';
import { certificates } from '../support/certificates.ts';
import { type RunningCli, startCli } from '../support/cli.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const LONG = 120_000;
const LONG_TEST = { timeout: LONG };
const FOLDER = join(import.meta.dirname, '../../deploy/proxy');
const NAME = 'far.test'; // a name of the certificate
const pem = certificates();
const read = (name: string): Promise<string> => readFile(join(FOLDER, name), 'utf8');

/** How each program is started with our file, in a folder of the test, in front of the gateway. */
const PROGRAMS = [
  {
    program: 'nginx',
    flag: '-v',
    async args(folder: string, port: number, gateway: number): Promise<readonly string[]> {
      const server = (await read('nginx.conf'))
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replaceAll('127.0.0.1:4483', `127.0.0.1:${gateway}`)
        .replaceAll('gateway.example.com', NAME)
        .replaceAll('/etc/ssl/', `${folder}/`);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (path) => `${path}_temp_path ${folder}/${path};`,
      );
      const user = process.getuid?.() === 0 ? 'user root;' : ''; // the folder is readable by its owner only
      const whole = `${user} pid ${folder}/pid; error_log stderr; daemon off; events {} http { access_log off; ${paths.join(' ')}\n${server}}`;
      await writeFile(join(folder, 'nginx.conf'), whole);
      return ['-p', folder, '-c', join(folder, 'nginx.conf')];
    },
  },
  {
    program: 'caddy',
    flag: 'version',
    async args(folder: string, port: number, gateway: number): Promise<readonly string[]> {
      const text = (await read('Caddyfile'))
        .replace(
          'gateway.example.com {',
          `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n\n${NAME}:${port} {\n\ttls ${folder}/${NAME}.pem ${folder}/${NAME}.key`,
        )
        .replaceAll('127.0.0.1:4483', `127.0.0.1:${gateway}`);
      await writeFile(join(folder, 'Caddyfile'), text);
      return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    },
  },
] as const;

describe('a reverse proxy with our configuration file', () => {
  const folder = temporaryFolderOfFile('proxy');
  let gateway: number;
  let running: RunningCli;
  beforeAll(async () => {
    await writeFile(join(folder, `${NAME}.pem`), pem.cert);
    await writeFile(join(folder, `${NAME}.key`), pem.key);
    gateway = await getPort();
    const file = join(folder, 'vmcp.yaml');
    await writeFile(
      file,
      stringify({
        ...{ name: 'tools', groupRef: 'dev', incomingAuth: { type: 'anonymous' }, outgoingAuth: { source: 'inline' } },
        ...{ aggregation: { conflictResolution: 'prefix' }, telemetry: { enablePrometheusMetricsPath: true } },
        endpoint: { allowedHosts: [NAME], trustedProxies: ['127.0.0.1/32'] },
        backends: [
          {
            ...{ name: 'everything', transport: 'stdio' },
            command: { file: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'] },
          },
        ],
      }),
    );
    running = startCli(['vmcp', 'serve', '-c', file, '--port', String(gateway)]);
    await running.printed(/everything.*ready|everything is ready/, LONG);
  }, LONG);
  afterAll(() => running?.[Symbol.asyncDispose]());

  it.for(PROGRAMS)(
    'of $program forwards sessions, sends events when they come, and hides the pages of operators',
    LONG_TEST,
    async ({ program, flag, args }, { skip }) => {
      if (!process.env.CI && !isInstalled(program, flag)) return skip(`${program} is not installed`);
      const own = join(folder, program);
      await mkdir(own);
      const port = await getPort();
      for (const end of ['pem', 'key'] as const)
        await writeFile(join(own, `${NAME}.${end}`), end === 'pem' ? pem.cert : pem.key);
      const proxy = spawn(program, await args(own, port, gateway), {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, HOME: own },
      });
      let said = '';
      proxy.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      const ended = once(proxy, 'close');
      try {
        const send = client(port);
        let last: Answer | string = '';
        await until(async () => {
          last = await send('GET', '/health').catch(String);
          return typeof last !== 'string' && last.status !== 502;
        }).catch(() => {
          throw new Error(`${program} does not answer: ${JSON.stringify(last)}\n${said.slice(-1_000)}`);
        });
        expect((await send('GET', '/health')).status).toBe(200);
        expect((await send('GET', '/')).status).toBe(403);
        const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
        const opened = await send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'initialize', params: hello });
        const session = {
          'mcp-session-id': String(opened.headers['mcp-session-id']),
          'mcp-protocol-version': '2025-11-25',
        };
        await send('POST', '/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, session);

        const call = (name: string, given: object) =>
          send(
            'POST',
            '/mcp',
            {
              jsonrpc: '2.0',
              id: 2,
              method: 'tools/call',
              params: { name, arguments: given, _meta: { progressToken: 1 } },
            },
            session,
          );
        const slow = await call('everything_trigger-long-running-operation', { duration: 2, steps: 4 });
        const first = slow.parts.find(({ text }) => text.includes('notifications/progress'));
        expect(slow.text).toContain('"result"');
        expect((slow.parts.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(900); // not collected by the proxy

        const large = await call('everything_echo', { message: 'x'.repeat(2_000_000) });
        expect([large.status, large.text.length > 2_000_000]).toEqual([200, true]);
        for (const page of ['/metrics', '/status', '/api/backends/health']) {
          expect([page, (await send('GET', page)).status]).toEqual([page, 404]);
        }
      } finally {
        proxy.kill('SIGTERM');
        const cut = setTimeout(() => proxy.kill('SIGKILL'), 5_000);
        await ended;
        clearTimeout(cut);
      }
    },
  );
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  /** Pieces of the body with the time of each, in milliseconds. */
  readonly parts: readonly { readonly at: number; readonly text: string }[];
}

/** Requests to the proxy under the name of its certificate, which is verified. */
function client(port: number) {
  return (method: string, path: string, body?: object, headers: object = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
      const outgoing = request(
        {
          ...{ host: '127.0.0.1', port, servername: NAME, ca: pem.ca, method, path, agent: false, timeout: 30_000 },
          headers: { host: NAME, ...accept, ...headers },
        },
        (incoming) => {
          const parts: { at: number; text: string }[] = [];
          incoming.setEncoding('utf8').on('data', (text: string) => parts.push({ at: performance.now(), text }));
          incoming.on('error', reject).on('end', () =>
            resolve({
              status: incoming.statusCode,
              headers: incoming.headers,
              parts,
              text: parts.map(({ text }) => text).join(''),
            }),
          );
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
      outgoing.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
}
