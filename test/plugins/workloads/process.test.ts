import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type WorkloadHandle, type WorkloadSpec, workloadRuntimes } from '@toolmgr/plugins/kit/extension-points';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inheritedEnvironment } from '../../../core/backend/transports/inherited-environment.ts';
import { nextRestart, RESTART_POLICY } from '../../../plugins/kit/workloads/restart-policy.ts';
import plugin from '../../../plugins/workloads/process/index.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { processes, processesWith } from '../../support/processes.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const never = new AbortController().signal;
const QUICK = { restart: { firstDelayMs: 20, maxDelayMs: 40, resetAfterMs: 60_000, maxRestarts: 3 } };

let folder: string;
const handles: WorkloadHandle[] = [];

beforeEach(() => {
  folder = temporaryFolder('process');
});

afterEach(() => Promise.all(handles.splice(0).map((handle) => handle.stop(1_000))));

/** A server that listens on PORT and runs `extra`. */
async function program(extra = ''): Promise<string> {
  const path = join(folder, 'server.mjs');
  const text = `import { createServer } from 'node:http';
    import { spawn } from 'node:child_process';
    import { appendFileSync } from 'node:fs';
    const server = createServer((request, response) => {
      if (request.url === '/exit') process.exit(3);
      response.end(JSON.stringify({ argv: process.argv.slice(2), env: process.env, pid: process.pid, cwd: process.cwd() }));
    });
    server.listen(Number(process.env.PORT), '127.0.0.1');
    ${extra}`;
  await writeFile(path, text);
  return path;
}

const spec = (args: readonly string[], more: Partial<WorkloadSpec> = {}): WorkloadSpec => ({
  name: 'one',
  group: 'default',
  transport: 'streamable-http',
  command: { file: process.execPath, args },
  env: {},
  cwd: folder,
  ...more,
});

async function start(of: WorkloadSpec, config: object = QUICK, signal = never): Promise<WorkloadHandle> {
  const core = await bootPlugin(plugin, config);
  const handle = await core.slot(workloadRuntimes).get('process').start(of, signal);
  handles.push(handle);
  return handle;
}

async function ask(
  handle: WorkloadHandle,
  path = '/',
): Promise<{ argv: string[]; env: Record<string, string>; pid: number; cwd: string }> {
  const answer = await fetch(new URL(path, handle.reach.url));
  return (await answer.json()) as Awaited<ReturnType<typeof ask>>;
}

describe('workloads/process', () => {
  proves('ask.plugin.process-argv', 'starts the exact argv without a shell', async () => {
    const args = ['$HOME', '*', 'a b', '; touch x', '"quoted"', '', '`id`'];
    const handle = await start(spec([await program(), ...args]));
    expect(await ask(handle)).toMatchObject({ argv: args, cwd: folder });
    expect(handle.state).toMatchObject({ name: 'one', status: 'running', restarts: 0 });
  });

  proves('ask.plugin.process-environment', 'passes a minimal environment and the configured variables', async () => {
    process.env.TOOLMGR_TEST_LEAK = 'must stay here';
    try {
      const handle = await start(spec([await program()], { env: { GIVEN: 'yes', LANG: 'xx' } }));
      const { env } = await ask(handle);
      const told = ['PORT', 'MCP_PORT', 'FASTMCP_PORT', 'MCP_HOST', 'MCP_TRANSPORT'];
      const allowed = [...Object.keys(inheritedEnvironment(process.env)), 'LANG', 'GIVEN', ...told];
      expect(allowed).not.toContain('TOOLMGR_TEST_LEAK');
      expect(Object.keys(env).filter((name) => !allowed.includes(name))).toEqual([]);
      expect(env).toMatchObject({ PATH: process.env.PATH, GIVEN: 'yes', LANG: 'xx', MCP_TRANSPORT: 'streamable-http' });
    } finally {
      delete process.env.TOOLMGR_TEST_LEAK;
    }
  });

  proves('ask.plugin.process-group', 'gives each workload its own process group', async () => {
    const handle = await start(spec([await program()]));
    const { pid } = await ask(handle);
    expect(handle.state.pid).toBe(pid);
    expect(processes().find((row) => row.pid === pid)?.group).toBe(pid);
    expect(processes().find((row) => row.pid === process.pid)?.group).not.toBe(pid);
  });

  proves(
    'ask.plugin.process-no-orphans',
    'stops a program that ignores signals, with its child processes',
    async () => {
      const stubborn = `process.on('SIGTERM', () => {});
      spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)', 'ORPHAN-${folder}'], { stdio: 'ignore' });`;
      const handle = await start(spec([await program(stubborn)]));
      const { pid } = await ask(handle);
      await until(() => processesWith(`ORPHAN-${folder}`).length === 1);
      await handle.stop(300);
      expect(processes().filter((row) => row.group === pid)).toEqual([]);
      expect(processesWith(`ORPHAN-${folder}`)).toEqual([]);
      expect(await handle.ended).toMatchObject({ status: 'stopped' });
    },
  );

  it('closes stdin first, so that a server can end by itself', async () => {
    const polite = `process.stdin.resume().on('end', () => { appendFileSync('${folder}/ends', 'stdin'); process.exit(0); });
      process.on('SIGTERM', () => { appendFileSync('${folder}/ends', 'SIGTERM'); process.exit(0); });`;
    const handle = await start(spec([await program(polite)]));
    await handle.stop(2_000);
    expect(await readFile(join(folder, 'ends'), 'utf8')).toBe('stdin');
  });

  proves(
    'ask.plugin.process-stderr',
    'keeps the end of its output in memory and all of it in a bounded file',
    async () => {
      const loud = `for (let i = 0; i < 20000; i++) console.error('line ' + i); console.error('last');`;
      const logFile = join(folder, 'workload.log');
      const handle = await start(spec([await program(loud)], { logFile }));
      await until(() => handle.logs().endsWith('last\n'));
      expect(handle.logs().length).toBeLessThanOrEqual(64 * 1024);
      expect(handle.logs()).toMatch(/^line \d+\n/);
      expect(await readFile(logFile, 'utf8')).toMatch(/^line 0\n[\s\S]*last\n$/);
    },
  );

  proves('ask.plugin.process-restart', 'restarts an ended program at the same address', async () => {
    const handle = await start(spec([await program()]));
    const { pid } = await ask(handle);
    const { url } = handle.reach;
    await ask(handle, '/exit').catch(() => {});
    await until(() => handle.state.restarts === 1 && handle.state.status === 'running');
    expect((await ask(handle)).pid).not.toBe(pid);
    expect(handle.reach.url).toBe(url);
    expect(handle.logs()).toContain('one ended (exit code 3)');
  });

  it('gives up a program that ends repeatedly, and reports how it ended', async () => {
    const handle = await start(
      spec([await program(`server.on('connection', () => setTimeout(() => process.exit(7), 30));`)]),
    );
    const last = await handle.ended;
    expect(last).toMatchObject({ status: 'error' });
    expect(last.message).toContain('given up after 3 restarts');
    expect(handle.state.restarts).toBeLessThanOrEqual(3);
  });

  it('can be stopped during the delay before a restart', async () => {
    const slow = { restart: { ...QUICK.restart, firstDelayMs: 60_000, maxDelayMs: 60_000 } };
    const handle = await start(spec([await program()]), slow);
    await ask(handle, '/exit').catch(() => {});
    await until(() => handle.state.status === 'starting');
    await handle.stop(1_000);
    expect((await handle.ended).status).toBe('stopped');
  });

  it('refuses a program that ends before it listens, with its exit code', async () => {
    const gone = start(spec(['-e', 'console.error("no licence"); process.exit(9)']));
    await expect(gone).rejects.toMatchObject({ code: 'WORKLOAD_FAILED' });
    await expect(gone).rejects.toThrow(/ended \(exit code 9\) before it listened/);
  });

  it('refuses a program that never listens, and stops it completely', async () => {
    const mark = `SILENT-${folder}`;
    const silent = start(spec(['-e', 'setInterval(() => {}, 1000)', mark]), { firstStartTimeoutMs: 200 });
    await expect(silent).rejects.toThrow(/did not listen on 127.0.0.1:\d+ within 200 ms/);
    expect(processesWith(mark)).toEqual([]);
  });

  it('stops an aborted start', async () => {
    const mark = `UNWANTED-${folder}`;
    const abort = new AbortController();
    const starting = start(spec(['-e', 'setInterval(() => {}, 1000)', mark]), {}, abort.signal);
    const refused = expect(starting).rejects.toThrow(/was stopped while it started/);
    await until(() => processesWith(mark).length === 1);
    abort.abort();
    await refused;
    expect(processesWith(mark)).toEqual([]);
  });

  it('refuses a port that another program uses', async () => {
    const first = await start(spec([await program()]));
    const targetPort = Number(new URL(first.reach.url ?? '').port);
    await expect(start(spec([await program()], { targetPort }))).rejects.toThrow(/is taken by another program/);
  });

  it('reports an invalid command before the start', async () => {
    const command = (file: string) => start(spec([], { command: { file, args: [] } }));
    await expect(command('no-such-program')).rejects.toThrow('workload one: there is no program no-such-program');
    await writeFile(join(folder, 'plain'), 'x', { mode: 0o644 });
    await expect(command('./plain')).rejects.toThrow(/plain is not executable/);
    await expect(start(spec([], { cwd: join(folder, 'away') }))).rejects.toThrow(/working directory .* does not exist/);
    await expect(start({ ...spec([]), command: undefined })).rejects.toThrow(/needs a command/);
  });

  it('leaves stdio processes to the gateway, one per client session', async () => {
    const handle = await start(spec(['server.js'], { transport: 'stdio', env: { A: '1' } }));
    expect(handle.reach).toEqual({
      transport: 'stdio',
      command: { file: process.execPath, args: ['server.js'], env: { A: '1' }, cwd: folder },
    });
    await handle.stop(0);
    expect((await handle.ended).status).toBe('stopped');
  });
});

describe('the restart policy', () => {
  it('has delays of 5, 10, 20, 40 and 60 seconds and gives up after ten consecutive restarts', () => {
    const waits: (number | undefined)[] = [];
    for (let restarts: number | undefined = 0; restarts !== undefined; ) {
      const next: ReturnType<typeof nextRestart> = nextRestart(RESTART_POLICY, restarts, 0);
      waits.push(next?.delayMs);
      restarts = next?.restarts;
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, ...Array(6).fill(60_000), undefined]);
  });

  it('resets the count after half a minute of running', () => {
    expect(nextRestart(RESTART_POLICY, 10, 29_999)).toBeUndefined();
    expect(nextRestart(RESTART_POLICY, 10, 30_000)).toEqual({ delayMs: 5_000, restarts: 1 });
  });
});
