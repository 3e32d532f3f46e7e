import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { readWorkload, readWorkloads, type WorkloadRecord, workloadDir } from '@toolmgr/plugins/kit/workloads';
import getPort from 'get-port';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeWorkload } from '../../../hosts/workloads/planning/remove.ts';
import { summaryOf, type WorkloadSummary } from '../../../hosts/workloads/planning/summary.ts';
import { findMarked } from '../../../hosts/workloads/proxy/sweep-orphans.ts';
import { processes, processesWith } from '../../support/processes.ts';
import { PROGRAM, PROXY_PROGRAM } from '../../support/program.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { startToolmgr, toolmgr, toolmgrSession } from './toolmgr.ts';

const EVERYTHING = 'npx://@modelcontextprotocol/server-everything';
const FIXTURES = join(import.meta.dirname, 'servers');
const TELLS = [process.execPath, '--', join(FIXTURES, 'tells.mjs')] as const;
const LONG = 180_000;
/** How far a run has come when it is killed. */
const KILL_POINTS: Readonly<Record<string, (record: WorkloadRecord | undefined) => boolean>> = {
  'its record is written': (record) => record !== undefined,
  'its proxy has begun': (record) => record?.status.runId !== undefined,
  'it is served': (record) => record?.status.status === 'running',
};

const session = toolmgrSession();
const command = (...args: readonly string[]) => session(state, args);
let state: string;

beforeEach(() => {
  state = temporaryFolder('run');
});

afterEach(async () => {
  const left = await readWorkloads(state);
  await Promise.all(left.map(({ name }) => removeWorkload(state, name, { force: true })));
}, LONG);

async function listed(name: string): Promise<WorkloadSummary | undefined> {
  return (await readWorkloads(state)).map(summaryOf).find((workload) => workload.name === name);
}

async function running(name: string): Promise<WorkloadSummary & { readonly pid: number }> {
  const workload = await listed(name);
  if (workload?.status !== 'running' || workload.pid === null) throw new Error(`${name}: ${JSON.stringify(workload)}`);
  return { ...workload, pid: workload.pid };
}

async function callLegacy(url: string, name: string, args: Record<string, unknown>): Promise<unknown> {
  const client = new LegacyClient({ name: 'test', version: '1' });
  await client.connect(new LegacyTransport(new URL(url)) as Parameters<LegacyClient['connect']>[0]);
  const result = await client.callTool({ name, arguments: args });
  await client.close();
  return result.content;
}

async function callBothEras(url: string, name: string, args: Record<string, unknown>): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const result = await client.callTool({ name, arguments: args });
  await client.close();
  return result.content;
}

const runIdOf = async (name: string): Promise<string> => (await readWorkload(state, name))?.status.runId ?? 'none';

describe('toolmgr run', () => {
  proves(
    [
      ...(['run.command.one-workload', 'run.command.proxy-in-front', 'run.command.background-default'] as const),
      ...([
        'ask.run.npx',
        'run.form.npx',
        'choice.run.npx-needs-no-engine',
        'choice.run.one-process-per-proxy',
        'choice.run.runtime-process',
      ] as const),
      ...(['ask.run.list', 'ask.run.stop', 'ask.run.rm', 'run.option.name', 'run.option.group'] as const),
      'run.option.host-default',
    ],
    'starts a package without an engine, serves both revisions, stops it without orphans, starts it at its port and removes it',
    async () => {
      const ran = await toolmgr(
        ...([state, 'run', '--runtime', 'process', '--name', 'all', '--group', 'dev', EVERYTHING] as const),
      );
      expect(ran).toMatchObject({ code: 0, err: '' });
      const workload = await running('all');
      expect(ran.out).toContain(`all runs at ${workload.url}`);
      expect(ran.out).toContain('not isolated: it has your rights');
      expect(JSON.parse((await command('list', '--format', 'json')).out)).toEqual([workload]);
      expect((await command('ls', '--group', 'dev')).out).toMatch(
        new RegExp(`^NAME +GROUP +STATUS +URL +TARGET\\nall +dev +running +${workload.url} +${EVERYTHING}\\n$`),
      );
      expect(await command('list', '--group', 'other')).toMatchObject({
        code: 1,
        err: expect.stringContaining('there is no group other'),
      });
      expect(workload).toMatchObject({ group: 'dev', transport_type: 'stdio', target: EVERYTHING });
      expect(workload.url).toBe(`http://127.0.0.1:${workload.port}/mcp`);

      const said = [{ type: 'text', text: 'Echo: hi' }];
      expect(await callLegacy(workload.url, 'echo', { message: 'hi' })).toEqual(said);
      expect(await callBothEras(workload.url, 'echo', { message: 'hi' })).toEqual(said);
      expect(await (await fetch(new URL('/', workload.url))).text()).toMatch(/\/mcp\n.*\n {2}all: ready, \d+ tools\n/);

      // one process is its proxy, in its own process session, with only the name on its command line
      const proxy = processes().find(({ pid }) => pid === workload.pid);
      expect(proxy?.group).toBe(workload.pid);
      const runId = await runIdOf('all');

      expect(await command('stop', 'all')).toMatchObject({ code: 0, out: 'all is stopped\n' });
      expect(await listed('all')).toMatchObject({ status: 'stopped', pid: null, url: '' });
      expect(processes().some(({ pid }) => pid === workload.pid)).toBe(false);
      expect(await findMarked(runId)).toEqual([]);

      expect((await command('start', 'all')).code).toBe(0);
      const again = await running('all');
      expect(again.port).toBe(workload.port);
      expect((await command('start', 'all')).out).toContain('all already runs');
      expect((await running('all')).pid).toBe(again.pid);

      // it is removed with --force only
      const kept = await command('rm', 'all', 'alll');
      expect(kept.code).toBe(1);
      expect(kept.err).toContain('all runs: stop it first (toolmgr stop all), or use --force');
      expect(kept.err).toContain('there is no workload alll, did you mean all?');
      expect((await running('all')).pid).toBe(again.pid);
      expect(await command('rm', '--force', 'all')).toMatchObject({ code: 0, out: 'all is removed\n' });
      expect(await listed('all')).toBeUndefined();
      expect(processes().some((row) => row.pid === again.pid)).toBe(false);
    },
    LONG,
  );

  proves(
    [
      'run.option.env',
      'run.command.repeatable-env',
      'run.form.syntax',
      'run.form.arguments-after-dashes',
      'ask.run.command',
      'ask.run.logs',
    ],
    'passes arguments and variables to a local command, shows its output and no values, and keeps them in one file',
    async () => {
      const values = ['--env', 'TOKEN=s3cret-value', '-e', 'EMPTY='];
      const ran = await command('run', '--name', 'tells', ...values, ...TELLS, '--name', 'a b', '-e');
      expect(ran).toMatchObject({ code: 0 });
      const { url, pid } = await running('tells');
      const [told] = (await callLegacy(url, 'tell', {})) as { text: string }[];
      const { argv, env } = JSON.parse(told?.text ?? '{}');
      expect(argv).toEqual(['--name', 'a b', '-e']);
      expect(env).toMatchObject({ TOKEN: 's3cret-value', EMPTY: '' });
      expect(Object.keys(env)).not.toContain('TOOLMGR_STATE_DIR');

      const shown = [
        await command('logs', 'tells'),
        await command('logs', 'tells', '--proxy'),
        await command('list', '--format', 'text'),
        await command('list', '--format', 'json'),
      ];
      expect(shown[0]?.out).toContain('tells.mjs is up');
      expect(shown[1]?.out).toContain('the workload answers');
      for (const { out, err } of [ran, ...shown]) expect(out + err).not.toContain('s3cret-value');
      expect(processes().find((row) => row.pid === pid)?.command).not.toContain('s3cret');
      const folder = workloadDir(state, 'tells');
      expect(await readFile(join(folder, 'run.json'), 'utf8')).toContain('s3cret-value');
      for (const file of ['run.json', 'status.json', 'proxy.log', 'workload.log']) {
        expect((await stat(join(folder, file))).mode & 0o777, file).toBe(0o600);
        if (file === 'run.json') continue;
        expect(await readFile(join(folder, file), 'utf8'), file).not.toContain('s3cret-value');
      }

      const following = startToolmgr(state, ['logs', 'tells', '--follow']);
      await until(() => following.out().includes('is up'));
      await callLegacy(url, 'tell', { print: 'a later line' });
      await until(() => following.out().includes('a later line'));
      following.child.kill('SIGINT');
      expect((await following.ended).code).toBe(0);

      // its server dies: the next client gets a new one, and the log stays
      for (const marked of await findMarked(await runIdOf('tells'))) process.kill(marked, 'SIGKILL');
      expect(await callLegacy(url, 'tell', {})).toHaveLength(1);
      expect((await command('logs', 'tells')).out).toContain('a later line');
      expect(await command('stop', 'tells')).toMatchObject({ code: 0 });
      expect(await command('rm', 'tells')).toMatchObject({ code: 0, out: 'tells is removed\n' });
    },
    LONG,
  );

  it(
    'leaves a state that can be read and removed, whenever it is killed',
    async () => {
      const cut = `cut-${process.pid}`; // no other run of this test has it
      for (const [point, isReached] of Object.entries(KILL_POINTS)) {
        const ran = startToolmgr(state, ['run', '--name', cut, ...TELLS]);
        await until(async () => isReached(await readWorkload(state, cut)) || ran.child.exitCode !== null);
        ran.child.kill('SIGKILL');
        await ran.ended;
        const runId = await runIdOf(cut);
        expect((await command('list')).code, point).toBe(0);
        const removed = await command('rm', '--force', cut);
        expect(`${removed.out}${removed.err}`, point).toMatch(/cut-\d+ is removed|there is no workload cut-/);
        expect(await listed(cut), point).toBeUndefined();
        expect(await findMarked(runId), point).toEqual([]);
      }
      // a proxy that was detached just before the kill ends, because its workload is gone
      const proxies = [`toolmgr proxy ${cut}`, `${PROXY_PROGRAM} ${cut}`];
      await until(() => proxies.flatMap(processesWith).length === 0);
    },
    LONG,
  );

  proves(
    ['run.option.foreground', 'run.option.foreground-default'],
    'stays in the foreground with -f until Ctrl-C, and leaves nothing behind',
    async () => {
      const fore = startToolmgr(state, ['run', '-f', '--name', 'fore', ...TELLS]);
      await until(() => fore.out().includes('fore runs at'), 30_000);
      const { url, pid } = await running('fore');
      expect(pid).toBe(fore.child.pid);
      await callLegacy(url, 'tell', {});
      expect(fore.err()).toContain('tells.mjs is up');
      const again = await command('restart', 'fore');
      expect(again, again.err).toMatchObject({
        code: 1,
        err: expect.stringContaining(`it runs in the foreground of process ${pid}: stop it there`),
      });
      const runId = await runIdOf('fore');
      await callLegacy(url, 'tell', {});
      fore.child.kill('SIGINT');
      expect(await fore.ended).toMatchObject({ code: 0, err: expect.stringContaining('fore is stopped and removed') });
      expect(await listed('fore')).toBeUndefined();
      expect(await findMarked(runId)).toEqual([]);
    },
    LONG,
  );

  proves(
    ['run.option.foreground', 'choice.cli.foreground-exit-code'],
    'ends with -f when the program ends by itself, with its exit code, over stdio and over HTTP',
    async () => {
      const folder = temporaryFolder('ends');
      const cases = [
        { name: 'three', flags: [], code: 3 },
        { name: 'zero', flags: [], code: 0 },
        { name: 'http', flags: ['--transport', 'streamable-http'], code: 4 },
      ];
      const ends = async ({ name, flags, code }: (typeof cases)[number]): Promise<void> => {
        const file = join(folder, name);
        const args = [...flags, process.execPath, '--', join(FIXTURES, 'ends.mjs'), file, String(code)];
        const fore = startToolmgr(state, ['run', '-f', '--name', name, ...args]);
        await until(() => fore.out().includes(`${name} runs at`), 30_000);
        await writeFile(file, '');
        const said = `${name} ended by itself (exit code ${code}) and is removed`;
        expect(await fore.ended).toMatchObject({ code, err: expect.stringContaining(said) });
        expect(await listed(name)).toBeUndefined();
      };
      await Promise.all(cases.map(ends));
    },
    LONG,
  );

  proves(
    'choice.cli.foreground-exit-code',
    'ends with -f and the exit code of a program that ends before it has answered',
    async () => {
      const early = (name: string, ...flags: readonly string[]) =>
        toolmgr(
          ...([state, 'run', '-f', '--name', name, ...flags] as const),
          ...[process.execPath, '--', join(FIXTURES, 'ends.mjs'), 'at-once', '7'],
        );
      const all = await Promise.all([early('stdio'), early('http', '--transport', 'streamable-http')]);
      for (const ran of all) expect(ran).toMatchObject({ code: 7, err: expect.stringContaining('exit code 7') });
    },
    LONG,
  );

  it(
    'shows an error for a workload whose proxy was killed, and the next start ends its orphans',
    async () => {
      // a server that outlives its closed stdin, e.g. because of timers
      await command('run', '--name', 'tells', ...TELLS, '--linger');
      const { pid, port } = await running('tells');
      const runId = await runIdOf('tells');
      process.kill(pid, 'SIGKILL');
      await until(() => !processes().some((row) => row.pid === pid));
      expect(await listed('tells')).toMatchObject({
        status: 'unhealthy',
        pid: null,
        status_context: 'its proxy ended unexpectedly',
      });

      expect((await command('start', 'tells')).code).toBe(0);
      expect(await running('tells')).toMatchObject({ port });
      expect(await findMarked(runId)).toEqual([]);

      const second = await running('tells');
      const secondRun = await runIdOf('tells');
      process.kill(second.pid, 'SIGKILL');
      await until(() => !processes().some((row) => row.pid === second.pid));
      // Whether a process is left to stop depends on how fast it ended with its proxy.
      expect(await command('stop', 'tells')).toMatchObject({ code: 0 });
      expect(await findMarked(secondRun)).toEqual([]);
      expect(await listed('tells')).toMatchObject({ status: 'stopped' });
    },
    LONG,
  );

  it(
    'reports why a server did not start, with its last output, and frees the name',
    async () => {
      const broken = [process.execPath, '--', '-e', 'console.error("no licence found"); process.exit(4)'];
      for (let time = 0; time < 2; time++) {
        const ran = await command('run', '--name', 'broken', ...broken);
        expect(ran.code).toBe(1);
        expect(ran.err).toMatch(/broken could not be started: .*exit code 4/);
        expect(ran.err).toContain('| no licence found');
      }
      expect(await listed('broken')).toBeUndefined();
    },
    LONG,
  );

  it(
    'is interrupted by Ctrl-C and leaves nothing behind',
    async () => {
      const mark = `SILENT-${state}`;
      const silent = ['-e', 'setInterval(() => {}, 1000)', mark];
      const ran = startToolmgr(state, ['run', '--name', 'silent', process.execPath, '--', ...silent]);
      await until(() => processesWith(mark).some(({ command }) => !command.includes(PROGRAM)));
      ran.child.kill('SIGINT');
      expect(await ran.ended).toMatchObject({ code: 130, err: 'silent was not started\n' });
      expect(processesWith(mark)).toEqual([]);
      expect(await listed('silent')).toBeUndefined();
    },
    LONG,
  );

  proves(
    [
      ...(['run.option.transport', 'run.option.proxy-port', 'run.option.host', 'run.option.host-ip-or-name'] as const),
      ...(['ask.run.url', 'run.form.url', 'run.form.url-name', 'choice.run.url-needs-no-engine'] as const),
    ],
    'runs a program over HTTP at the port and address of the flags, and serves a URL without ever showing its query',
    async () => {
      const proxyPort = String(await getPort({ host: '127.0.0.1' }));
      const server = join(
        import.meta.dirname,
        '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
      );
      const flags = ['--transport', 'streamable-http', '--proxy-port', proxyPort, '--host', 'localhost'];
      const program = [process.execPath, '--', server, 'streamableHttp'];
      expect(await command('run', '--name', 'http', ...flags, ...program)).toMatchObject({ code: 0 });
      const near = await running('http');
      expect(near).toMatchObject({ port: Number(proxyPort), url: `http://localhost:${proxyPort}/mcp` });
      const said = [{ type: 'text', text: 'Echo: over http' }];
      expect(await callLegacy(near.url, 'echo', { message: 'over http' })).toEqual(said);

      // Only Linux has more than one loopback address by default.
      const host = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';
      const remote = [`${near.url}?key=s3cret-key`, '--name', 'far', '--host', host];
      expect(await command('run', ...remote)).toMatchObject({ code: 0 });
      const far = await running('far');
      expect(far).toMatchObject({ transport_type: 'streamable-http', target: near.url });
      expect(await callLegacy(far.url, 'echo', { message: 'over http' })).toEqual(said);
      for (const { out, err } of [await command('list'), await command('logs', 'far')])
        expect(out + err).not.toContain('s3cret-key');
      expect(await listens(host, far.port ?? 0)).toBe(true);
      if (host !== '127.0.0.1') expect(await listens('127.0.0.1', far.port ?? 0)).toBe(false);

      const runId = await runIdOf('http');
      await command('stop', 'http');
      expect(await findMarked(runId)).toEqual([]);
    },
    LONG,
  );

  it(
    'reports an unreachable remote server without delay',
    async () => {
      const port = await getPort({ host: '127.0.0.1' });
      const ran = await command('run', `http://127.0.0.1:${port}/mcp`, '--name', 'unreachable');
      expect(ran.code).toBe(1);
      expect(ran.err).toMatch(/unreachable could not be started: .*refused the connection/);
      expect(await listed('unreachable')).toBeUndefined();
    },
    LONG,
  );

  it(
    'names the holder of a requested port, and takes another one if it was only remembered',
    async () => {
      await command('run', '--name', 'first', ...TELLS);
      const { port } = await running('first');
      const second = await command('run', '--name', 'second', '--proxy-port', String(port), ...TELLS);
      expect(second.code).toBe(1);
      expect(second.err).toContain(
        `port ${port} on 127.0.0.1 is taken by the workload first of toolmgr; stop it (toolmgr stop first)`,
      );
      expect(second.err).toContain('choose another --proxy-port, or leave it out for a free one');
      expect(await listed('second')).toBeUndefined();

      await command('stop', 'first');
      const stranger = await listenOn(port ?? 0);
      try {
        const taken = await command('run', '--name', 'second', '--proxy-port', String(port), ...TELLS);
        expect(taken.err).toContain(
          `is taken by another program; find and stop it (lsof -nP -iTCP:${port} -sTCP:LISTEN)`,
        );
        expect((await command('start', 'first')).code).toBe(0);
        expect((await running('first')).port).not.toBe(port);
      } finally {
        stranger.close();
      }
    },
    LONG,
  );

  it(
    'starts a name only once when several start it at the same time',
    async () => {
      const ran = await Promise.all(Array.from({ length: 3 }, () => toolmgr(state, 'run', '--name', 'one', ...TELLS)));
      expect(ran.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
      const refused = 'there is a workload one already: see it (toolmgr status one)';
      expect(ran.filter(({ err }) => err.includes(refused))).toHaveLength(2);
      expect(await running('one')).toMatchObject({ status: 'running' });
    },
    LONG,
  );

  it(
    'serves its group to a vmcp gateway',
    async () => {
      await command('run', '--name', 'tells', '--group', 'dev', ...TELLS);
      const gate = startToolmgr(state, ['vmcp', 'serve', '--group', 'dev', '--port', '0']);
      try {
        await until(() => /serves http\S+/.test(gate.err()), 30_000);
        const url = /serves (http\S+)/.exec(gate.err())?.[1] ?? '';
        expect(await callLegacy(url, 'tells_tell', {})).toHaveLength(1);
      } finally {
        gate.child.kill('SIGTERM');
        await gate.ended;
      }
    },
    LONG,
  );
});

/** Whether a program accepts connections at an address. */
function listens(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  const answered = new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  return answered.finally(() => socket.destroy());
}

function listenOn(port: number): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}
