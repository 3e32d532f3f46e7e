import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { pausedRunner } from '../../support/package-runner.ts';
import { processesWith } from '../../support/processes.ts';
import { PROGRAM } from '../../support/program.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const LONG = 120_000;
const ROOT = join(import.meta.dirname, '../../..');
const BACKEND = join(import.meta.dirname, 'backend.mjs');
const GATEWAY = ['--conditions=development', PROGRAM, 'up'];
const TEN_MB = 10_000_000;

const folder = temporaryFolderOfFile('stdio');
let args: string[];
beforeAll(async () => {
  const file = join(folder, 'mcp.json');
  const backend = { command: process.execPath, args: [BACKEND, `--of=${folder}`] };
  await writeFile(file, JSON.stringify({ mcpServers: { own: backend } }));
  args = [...GATEWAY, file, '--stdio'];
});

const gateway = () => ({ command: process.execPath, args, stderr: 'ignore' as const });
const textOf = (result: unknown): string => (result as { content: [{ text: string }] }).content[0].text;
const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );
const expectNoBackend = () => until(() => processesWith(`--of=${folder}`).length === 0, 30_000);

describe('toolmgr up --stdio', () => {
  proves(
    'ask.up.lists-of-last-time',
    'lists a server that is being installed as it was last time, and then as it is',
    async () => {
      const runner = pausedRunner();
      const file = join(folder, 'installing.json');
      const state = join(folder, 'state');
      const env = { npm_config_cache: runner.cache };
      await writeFile(
        file,
        JSON.stringify({ mcpServers: { slow: { command: runner.file, args: runner.args('pkg'), env } } }),
      );
      const connected = async () => {
        const client = new Client1({ name: 'one', version: '1' });
        const transport = new Transport1({
          ...{ command: process.execPath, args: [...GATEWAY, file, '--stdio'], stderr: 'pipe' },
          env: { ...(process.env as Record<string, string>), TOOLMGR_STATE_DIR: state },
        });
        let said = '';
        transport.stderr?.on('data', (text: Buffer) => {
          said += text.toString();
        });
        await client.connect(transport);
        return { client, said: () => said, [Symbol.asyncDispose]: () => client.close() };
      };
      const namesOf = async (client: Client1) => (await client.listTools()).tools.map(({ name }) => name);
      {
        runner.release();
        await using first = await connected();
        expect(await namesOf(first.client)).toEqual(['slow_ping']);
      }
      runner.hold();
      await using second = await connected();
      expect(await namesOf(second.client)).toEqual(['slow_ping']);
      await until(() =>
        /slow {2}still starting, \d s so far; until it is ready, those of last time: 1 tool/.test(second.said()),
      );
      const ping = async () => textOf(await second.client.callTool({ name: 'slow_ping', arguments: {} }));
      expect(await ping()).toMatch(/"slow" is still starting/);
      runner.release();
      await until(async () => (await ping()) === 'pong');
    },
    LONG,
  );

  it(
    'serves SDK 1.x clients: parallel calls, 10 MB, progress, elicitation, cancellation, changed lists',
    async () => {
      const client = new Client1({ name: 'one', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
      const changed = Promise.withResolvers<void>();
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
      await using _ = { [Symbol.asyncDispose]: () => client.close() };
      await client.connect(new Transport1(gateway()));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('own_echo');
      const call = (name: string, given: Record<string, unknown> = {}, options = {}) =>
        client.callTool({ name, arguments: given }, undefined, { timeout: LONG, ...options });

      const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
      const [big, ...echoed] = await Promise.all([
        call('own_big', { bytes: TEN_MB }),
        ...texts.map((text) => call('own_echo', { text })),
      ]);
      expect(textOf(big)).toHaveLength(TEN_MB);
      expect(echoed.map(textOf)).toEqual(texts);

      let progress = 0;
      await call('own_echo', {}, { onprogress: () => progress++ });
      await until(() => progress === 1);
      expect(textOf(await call('own_confirm'))).toBe('decline');

      const file = join(folder, 'mark-1');
      const stop = new AbortController();
      const marked = call('own_mark', { file }, { signal: stop.signal });
      setTimeout(() => stop.abort(), 100);
      await expect(marked).rejects.toThrow();
      await until(() => exists(file));

      await call('own_grow');
      await changed.promise;
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('own_grown');
      await client.close();
      await expectNoBackend();
    },
    LONG,
  );

  it(
    'serves SDK 2.x clients in the stateless revision: 10 MB, progress, input requests, cancellation, subscriptions',
    async () => {
      const client = new Client(
        { name: 'two', version: '1' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
      );
      client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
      await using _ = { [Symbol.asyncDispose]: () => client.close() };
      await client.connect(new StdioClientTransport(gateway()));
      const changed = Promise.withResolvers<void>();
      client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
      const call = (name: string, given: Record<string, unknown> = {}, options = {}) =>
        client.callTool({ name, arguments: given }, { timeout: LONG, ...options });
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('own_echo');
      expect(textOf(await call('own_big', { bytes: TEN_MB }))).toHaveLength(TEN_MB);
      let progress = 0;
      await call('own_echo', {}, { onprogress: () => progress++ });
      await until(() => progress === 1);
      expect(textOf(await call('own_confirm'))).toBe('decline');
      const file = join(folder, 'mark-2');
      const stop = new AbortController();
      const marked = call('own_mark', { file }, { signal: stop.signal });
      setTimeout(() => stop.abort(), 100);
      await expect(marked).rejects.toThrow();
      await until(() => exists(file));
      const subscription = await client.listen({ toolsListChanged: true });
      await call('own_grow');
      await changed.promise;
      await subscription.close();
      await client.close();
      await expectNoBackend();
    },
    LONG,
  );

  it(
    'answers faulty lines with errors, writes nothing else, answers what was read before the end, and then ends',
    async () => {
      const child = spawn(process.execPath, args, { stdio: 'pipe' });
      const lines = linesOf(child);
      const request = (id: unknown, method: string, params: object = {}) =>
        JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
      const sent = [
        'no json',
        request('early', 'tools/list'),
        request('first', 'ping'),
        request(1, 'initialize', hello),
        request(2, 'initialize', hello),
        '',
        `${request(3, 'ping')}\r`,
        `{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":"${'x'.repeat(9_000_000)}"}}`,
        request(5, 'tools/call', { name: 'own_echo', arguments: { text: 'last' } }),
      ];
      child.stdin.end(`${sent.join('\n')}\n`);
      const [code] = await once(child, 'close');
      expect(code).toBe(0);
      const answers = lines.map((line) => JSON.parse(line));
      expect(answers.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
      const errorOf = (id: unknown) => answers.filter((answer) => answer.id === id).map(({ error }) => error?.code);
      expect(errorOf(null)).toEqual([-32700, -32600]);
      expect(errorOf('early')).toEqual([-32000]);
      expect(answers.find(({ id }) => id === 'first').result).toEqual({});
      expect(errorOf(2)).toEqual([-32600]);
      expect(answers.find(({ id }) => id === 3).result).toEqual({});
      expect(textOf(answers.find(({ id }) => id === 5).result)).toBe('last');
      await expectNoBackend();
    },
    LONG,
  );

  it(
    'ends with its programs when its client is killed, and on a signal while a client does not read',
    async () => {
      const shell = spawn('sh', ['-c', 'sleep 1000 | "$0" "$@"', process.execPath, ...args], {
        stdio: 'pipe',
        detached: true,
      });
      await until(() => processesWith(`--of=${folder}`).length === 1, 60_000);
      const sleeping = processesWith('sleep 1000').find(
        ({ group, command }) => group === shell.pid && command.startsWith('sleep'),
      );
      process.kill(sleeping?.pid ?? 0, 'SIGKILL');
      await expectNoBackend();

      const child = spawn(process.execPath, args, { stdio: 'pipe' });
      const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
      const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      send({ id: 0, method: 'initialize', params: hello });
      const params = { name: 'own_big', arguments: { bytes: TEN_MB } };
      for (let id = 1; id <= 8; id++) send({ id, method: 'tools/call', params });
      await until(() => processesWith(`--of=${folder}`).length === 1, 60_000);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      expect(code).toBe(0);
      await expectNoBackend();
    },
    LONG,
  );

  it(
    'serves the Inspector, and a vmcp file',
    async () => {
      const file = join(folder, 'vmcp.yaml');
      const own = `command: { file: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(BACKEND)}] }`;
      await writeFile(
        file,
        `name: x\ngroupRef: x\nincomingAuth: { type: anonymous }\noutgoingAuth: { source: inline }\naggregation: { conflictResolution: prefix }\nbackends:\n  - name: own\n    transport: stdio\n    ${own}\n`,
      );
      const served = [GATEWAY[0], GATEWAY[1], 'vmcp', 'serve', '-c', file, '--stdio'] as string[];
      const inspector = join(ROOT, 'node_modules/.bin/mcp-inspector');
      const { stdout } = await promisify(execFile)(
        inspector,
        ['--cli', process.execPath, ...served, '--method', 'tools/list'],
        { env: { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env.PATH}` } },
      );
      expect(stdout).toContain('own_echo');
    },
    LONG,
  );
});

function linesOf(child: ChildProcessWithoutNullStreams): string[] {
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return lines;
}
