import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog, type Gateway } from '@toolmgr/core';
import { beforeEach, expect, it } from 'vitest';
import { chooseGateway } from '../../../../hosts/shared/running/choose-gateway.ts';
import { fetchLines, fetchStatus } from '../../../../hosts/shared/running/control-client.ts';
import { type GatewayRecord, readRunning, writeRecord } from '../../../../hosts/shared/running/gateway-record.ts';
import { type ControlOptions, serveControl } from '../../../../hosts/shared/running/serve-control.ts';
import { cli } from '../../../support/cli.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('running');
});

/** The members that the socket reads. */
const gateway = { backends: () => [], blocked: () => [], catalog: () => ({ visible: () => [] }) } as unknown as Gateway;
const places = () => join(folder, 'gateways');
const serve = (about: Partial<ControlOptions['about']> = {}, more: Partial<ControlOptions> = {}) =>
  serveControl({
    gateway: () => gateway,
    log: createLog('silent', () => {}),
    about: { kind: 'up', name: 'up', url: 'http://127.0.0.1:4483/mcp', ...about },
    signal: new AbortController().signal,
    folder: places(),
    ...more,
  });

it('a record and its socket are readable by their user only, and are gone after the stop', async () => {
  const control = await serve();
  const names = await readdir(places());
  const modes = await Promise.all(names.map(async (name) => (await stat(join(places(), name))).mode & 0o777));
  expect(modes).toEqual([0o600, 0o600]);
  expect((await stat(places())).mode & 0o777).toBe(0o700);
  const record = await chooseGateway(undefined, places());
  expect(await fetchStatus(record)).toMatchObject({ name: 'up', process: { pid: process.pid }, backends: [] });
  await control[Symbol.asyncDispose]();
  expect(await readdir(places())).toEqual([]);
});

it('a socket moves to a short folder when the path of the state folder is too long for one', async () => {
  const long = join(folder, 'x'.repeat(90), 'gateways');
  const control = await serve({}, { folder: long });
  const [record] = await readRunning(long);
  expect(record?.socket.startsWith(long)).toBe(false);
  expect(await fetchStatus(record as GatewayRecord)).toMatchObject({ name: 'up' });
  await control[Symbol.asyncDispose]();
  await expect(stat(record?.socket ?? '')).rejects.toThrow('ENOENT');
});

it('the record of a killed gateway is removed, and one whose pid was given to another process too', async () => {
  await using _ = await serve();
  const [own] = await readRunning(places());
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'exit');
  const left = (id: string, pid: number) =>
    writeRecord(places(), {
      ...(own as GatewayRecord),
      id,
      process: { pid, started: 'earlier' },
      socket: join(places(), `${id}.sock`),
    });
  await left('ended', ended.pid ?? 0);
  await left('reused', process.pid);
  expect(await readRunning(places())).toEqual([own]);
  expect((await readdir(places())).sort()).toEqual([`${own?.id}.json`, `${own?.id}.sock`]);
});

it('a changed record removes no file that is not a socket', async () => {
  await mkdir(places(), { mode: 0o700 });
  const precious = join(folder, 'precious.txt');
  await writeFile(precious, 'kept');
  const record = { id: 'bad', kind: 'up', name: 'up', version: '1', startedAt: '2026', socket: precious } as const;
  await writeRecord(places(), { ...record, process: { pid: 2 ** 22 + 5, started: 'never' } });
  expect(await readRunning(places())).toEqual([]);
  expect(await readFile(precious, 'utf8')).toBe('kept');
});

it('a folder that others can open, or a link, is refused, and the gateway runs without a socket', async () => {
  const lines: string[] = [];
  const log = createLog('warn', (line) => lines.push(line));
  await mkdir(places());
  await chmod(places(), 0o755);
  await using _open = await serve({}, { log });
  expect(lines.join('')).toContain('can be opened by others; run: chmod 700');
  await rm(places(), { recursive: true });
  await mkdir(join(folder, 'elsewhere'), { mode: 0o700 });
  await symlink(join(folder, 'elsewhere'), places());
  await using _link = await serve({}, { log });
  expect(lines.join('')).toContain('is not a folder');
  expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
});

it('one of several gateways is chosen by name, port, pid or URL, and an unclear choice lists them', async () => {
  await using _one = await serve();
  await using _two = await serve({ kind: 'vmcp serve', name: 'team', url: 'http://127.0.0.1:4500/mcp' });
  await expect(chooseGateway(undefined, places())).rejects.toThrow('--gateway 4500  team (vmcp serve)');
  for (const which of ['team', '4500', 'http://127.0.0.1:4500', 'http://127.0.0.1:4500/mcp']) {
    expect((await chooseGateway(which, places())).name).toBe('team');
  }
  await expect(chooseGateway(String(process.pid), places())).rejects.toThrow('several gateways run');
  await expect(chooseGateway('4501', places())).rejects.toThrow('no gateway 4501 runs');
});

it('status names the plugin, the stage and the tool that blocked the event loop', async () => {
  const about = { plugin: 'slow-policy', stage: 'authorize', method: 'tools/call', name: 'send' };
  const blocked = [
    { ...about, ms: 212, times: 3, latestMs: Date.now() - 60_000 },
    { stage: 'background', ms: 130, times: 1, latestMs: Date.now() - 3 * 60_000 },
  ];
  await using _ = await serve({}, { gateway: () => ({ ...gateway, blocked: () => blocked }) as unknown as Gateway });
  const env = { TOOLMGR_STATE_DIR: folder };
  const { out } = await cli(['status'], { env });
  expect(out).toMatch(/ {2}blocked {2}slow-policy authorize tools\/call send: 212 ms, 3 times, \d+ s ago\n/);
  expect(out).toContain('  blocked  unknown plugin background: 130 ms, once, 3 min ago\n');
  expect(JSON.parse((await cli(['status', '--json'], { env })).out).gateways).toMatchObject([{ blocked }]);
});

it('lines of a backend are followed until the reader ends', async () => {
  const state = { backend: { name: 'a', transport: 'stdio' }, status: 'ready', sinceMs: 0 };
  const asked: AbortSignal[] = [];
  await using _ = await serve(
    {},
    {
      gateway: () => ({ ...gateway, backends: () => [state] }) as unknown as Gateway,
      lines: {
        of: (_backend, count) => [{ text: `last ${count}` }],
        async *follow(_backend, signal) {
          asked.push(signal);
          yield { text: 'new' };
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        },
      },
    },
  );
  const record = await chooseGateway(undefined, places());
  const stop = new AbortController();
  const seen: unknown[] = [];
  for await (const line of fetchLines(record, { backend: 'a', lines: 5, follow: true, signal: stop.signal })) {
    seen.push(line.text);
    if (seen.length === 2) stop.abort();
  }
  expect(seen).toEqual(['last 5', 'new']);
  await expect.poll(() => asked[0]?.aborted).toBe(true);
  const unknown = fetchLines(record, { backend: 'b', lines: 5, follow: false, signal: AbortSignal.timeout(5_000) });
  await expect(unknown.next()).rejects.toThrow('there is no backend b');
});
