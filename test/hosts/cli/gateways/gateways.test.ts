import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, type RunningCli, startCli } from '../../../support/cli.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const LONG = 120_000;
const MEMORY = join(import.meta.dirname, '../../../../node_modules/@modelcontextprotocol/server-memory/dist/index.js');

const folder = temporaryFolderOfFile('gateways');
let first: RunningCli;
let port: string;
let pin: string;
const env = () => ({ TOOLMGR_STATE_DIR: join(folder, 'state') });
const run = (...args: string[]) => cli(args, { cwd: folder, env: env() });
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);

beforeAll(async () => {
  const memory = { command: process.execPath, args: [MEMORY], env: { MEMORY_FILE_PATH: join(folder, 'm.jsonl') } };
  const crash = { command: process.execPath, args: ['-e', 'console.error("no API key s3t"); process.exit(1)'] };
  const ghost = { command: join(folder, 'ghost'), env: { TOKEN: 'very-secret' } };
  await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { memory, crash } }));
  await writeFile(join(folder, 'second.json'), JSON.stringify({ mcpServers: { ghost } }));
});
afterAll(() => first?.[Symbol.asyncDispose]());

describe('commands for a running gateway', () => {
  it(
    'wait begins before the gateway, and ends when the named backend is ready',
    async () => {
      const waiting = run('wait', 'memory', '--timeout', '90s');
      first = startCli(['up', '--port', '0'], { cwd: folder, env: env() });
      expect(await waiting).toMatchObject({ code: 0, out: expect.stringContaining('memory  ready  9 tools') });
      [, port = ''] = await first.printed(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
      expect((await run('wait', 'memroy')).err).toContain('no backend memroy, did you mean memory?');
      const late = await run('wait', '--timeout', '1s');
      expect(late).toMatchObject({ code: 10, out: expect.stringContaining('crash   retrying') });
    },
    LONG,
  );

  it(
    'status shows the gateway, its backends, and what to do about one that failed; without secrets',
    async () => {
      const { gateways, workloads } = await json('status');
      expect(workloads).toEqual([]);
      expect(gateways).toMatchObject([
        {
          name: 'up',
          kind: 'up',
          file: join(folder, '.mcp.json'),
          pid: first.pid,
          backends: [
            { name: 'crash', state: 'retrying', tools: 0, error: { category: 'exit' } },
            { name: 'memory', state: 'ready', tools: 9 },
          ],
        },
      ]);
      const text = (await run('status', 'crash')).out;
      expect(text).toContain('why  exit: backend "crash" ended with exit code 1');
      expect(text).toContain('toolmgr logs crash');
      expect(text).not.toContain('memory');
      const [remote] = (await json('status', '--url', `http://127.0.0.1:${port}`)).gateways;
      expect(remote.backends.map(({ name, state }: Record<string, string>) => [name, state])).toEqual([
        ['crash', 'retrying'],
        ['memory', 'ready'],
      ]);
      expect(await run('status', 'nothing')).toMatchObject({
        code: 1,
        err: expect.stringContaining('known: up, crash'),
      });
    },
    LONG,
  );

  it(
    'logs shows the last lines of the program of a backend, and restart starts it again',
    async () => {
      const lines = (await run('logs', 'crash')).out.split('\n');
      const ended = lines.findIndex((line) => line.includes('backend process ended'));
      // each line of stderr once, and before the line about the end
      expect(lines.slice(0, ended).filter((line) => line.includes('no API key s3t'))).toHaveLength(1);
      expect(lines[ended]).not.toContain('no API key');
      const before = (await run('logs', 'memory')).out.match(/running on stdio/g)?.length ?? 0;
      await using following = startCli(['logs', 'memory', '--follow'], { cwd: folder, env: env() });
      await following.printed(/running on stdio/);
      expect(await run('restart', 'memory')).toMatchObject({ code: 0, out: 'memory is ready, 9 tools\n' });
      await expect.poll(() => following.out().match(/running on stdio/g)?.length, { timeout: 20_000 }).toBe(before + 1);
      expect(await run('restart', 'crash')).toMatchObject({
        code: 1,
        err: expect.stringContaining('fix: correct its'),
      });
    },
    LONG,
  );

  it(
    'preflight says of each tool whether it can be used, and calls none',
    async () => {
      const url = ['--url', `http://127.0.0.1:${port}/mcp`];
      expect((await run('tools')).out).toContain('memory_read_graph'); // the only gateway, not at the default port
      const good = await json('tools', 'preflight', 'memory_read_graph');
      expect(good).toMatchObject({ verdict: 'ready', tools: [{ status: 'ok', backend: 'memory' }] });
      ({ pin } = good.tools[0]);
      expect((await run('tools', 'preflight', '--pin', `memory_read_graph=${pin}`, ...url)).code).toBe(0);
      const changed = `memory_read_graph=${pin.slice(0, -4)}0000`;
      expect(await run('tools', 'preflight', '--pin', changed, ...url)).toMatchObject({
        code: 11,
        out: expect.stringContaining('changed'),
      });
      const wrong = await run('tools', 'preflight', 'memory_raed_graph', ...url);
      expect(wrong).toMatchObject({ code: 10, err: expect.stringContaining('did you mean memory_read_graph') });
      expect((await run('tools', 'preflight', 'x', '--url', 'http://127.0.0.1:9/mcp')).code).toBe(12);
      expect((await run('tools', 'preflight', 'x', '--json', '--format', 'text')).err).toContain('not both');
    },
    LONG,
  );

  it(
    'gateways over stdio are listed without a URL, answer the same commands, and are not what wait means beside one with a URL',
    async () => {
      const options = { cwd: folder, env: env(), keepsInput: true };
      await writeFile(
        join(folder, 'vmcp.yaml'),
        `backends: [{ name: notes, transport: stdio, command: { file: ${process.execPath}, args: [${MEMORY}] } }]\n`,
      );
      await using up = startCli(['up', '.mcp.json', '--stdio'], options);
      await using vmcp = startCli(['vmcp', 'serve', '-c', 'vmcp.yaml', '--stdio'], options);
      await Promise.all([up.printed(/serves \.mcp\.json at standard input/), vmcp.printed(/backend ready/)]);
      const { gateways } = await json('status');
      const [one, two] = [up, vmcp].map(({ pid }) => gateways.find((gateway: { pid: number }) => gateway.pid === pid));
      expect(one).toMatchObject({ name: 'up', kind: 'up --stdio', file: join(folder, '.mcp.json') });
      expect(two).toMatchObject({ kind: 'vmcp serve --stdio', file: join(folder, 'vmcp.yaml') });
      expect([one.url, two.url]).toEqual([undefined, undefined]);
      expect((await run('wait', 'memory')).code).toBe(0);
      const at = ['--gateway', String(vmcp.pid)];
      expect(await run('wait', ...at)).toMatchObject({
        code: 0,
        out: expect.stringContaining('notes  ready  9 tools'),
      });
      expect((await run('restart', 'notes')).out).toBe('notes is ready, 9 tools\n');
      expect((await run('logs', 'notes')).out.match(/running on stdio/g)).toHaveLength(2);
      expect((await run('logs', 'memory')).err).toContain(`--gateway ${up.pid}  up (up --stdio `);
      expect((await run('tools', 'preflight', 'x', ...at)).err).toContain('has no URL');
      vmcp.signal('SIGTERM');
      await Promise.all([vmcp.finished, up[Symbol.asyncDispose]()]);
      expect((await json('status')).gateways).toHaveLength(1);
    },
    LONG,
  );

  it(
    'with two gateways a command asks which one, wait ends at a backend that cannot start, and a killed gateway is forgotten',
    async () => {
      const second = startCli(['up', 'second.json', '--port', '0'], { cwd: folder, env: env() });
      await second.printed(/serves second\.json/);
      const unclear = await run('wait');
      expect(unclear.code).toBe(1);
      expect(unclear.err).toContain('several gateways run; choose one:');
      expect(unclear.err).toContain(`--gateway ${port}  up (up ${join(folder, '.mcp.json')})`);
      expect(await run('call', 'memory_read_graph')).toMatchObject({
        code: 1,
        err: expect.stringContaining(`http://127.0.0.1:${port}/mcp`),
      });
      expect(await run('call', 'memory_read_graph', '--gateway', port)).toMatchObject({ code: 0 });
      const failed = await run('wait', '--gateway', String(second.pid));
      expect(failed).toMatchObject({ code: 11, err: expect.stringContaining('install its program') });
      expect((await json('status')).gateways).toHaveLength(2);
      expect((await run('status', '--json')).out).not.toContain('very-secret');
      second.signal('SIGKILL');
      await second.finished;
      expect((await json('status')).gateways).toHaveLength(1);
      first.signal('SIGTERM');
      await first.finished;
      expect(await run('wait', '--timeout', '0s')).toMatchObject({ code: 12 });
      expect((await run('status')).err).toContain('nothing runs');
    },
    LONG,
  );
});
