import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import type { JsonObject } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { readWorkload, readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { toolmgr } from '../hosts/run/toolmgr.ts';
import { watchSignals } from '../support/leaks.ts';
import { processes, processesWith } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { CELLS } from './rig/cells.ts';
import { hardServer, hardStdio } from './rig/programs.ts';
import { type Backends, type NearClient, serve } from './rig/served.ts';

const LONG = 120_000;
const REPOSITORY = join(import.meta.dirname, '../..');

/** Number of calls of each expensive function of `node:crypto`. */
const crypto = vi.hoisted(() => ({ used: {} as Record<string, number> }));

vi.mock('node:crypto', async (original) => {
  const real = await original<Record<string, unknown>>();
  const counted = ['hkdfSync', 'hkdf', 'pbkdf2Sync', 'scryptSync', 'createCipheriv', 'createDecipheriv', 'createHmac'];
  const wrapped = counted.map((name) => {
    const run = real[name] as (...given: unknown[]) => unknown;
    const count = (...given: unknown[]): unknown => {
      crypto.used[name] = (crypto.used[name] ?? 0) + 1;
      return run(...given);
    };
    return [name, count] as const;
  });
  return { ...real, ...Object.fromEntries(wrapped) };
});

/** What `crypto.used` grew by while something ran. */
async function cryptoDuring(run: () => Promise<unknown>): Promise<Record<string, number>> {
  crypto.used = {};
  await run();
  return { ...crypto.used };
}

async function bothEras() {
  const [old, young] = await Promise.all([hardServer('legacy'), hardServer('modern')]);
  const backends: Backends = {
    old: { transport: 'streamable-http', url: old.url, era: 'legacy' },
    new: { transport: 'streamable-http', url: young.url, era: 'modern' },
  };
  return { old, young, backends };
}

async function times(number: number, run: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < number; n += 10) await Promise.all(Array.from({ length: 10 }, (_, m) => run(n + m)));
}

describe('a signal that many requests share', () => {
  it('has one listener for each running request and none afterwards', { timeout: LONG }, async () => {
    const { backends } = await bothEras();
    await using at = await serve({ ...backends, piped: hardStdio().backend });
    const shared = new AbortController();
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    for (const workload of ['old', 'new', 'piped']) {
      const call = (name: string) => at.gateway.perform({ name: `${workload}_${name}`, signal: shared.signal });
      await times(300, () => call('quick'));
      expect(getEventListeners(shared.signal, 'abort'), workload).toHaveLength(0);
      const running = Array.from({ length: 8 }, () => call('slow'));
      await until(() => at.gateway.counts().callsInFlight === 8);
      expect(getEventListeners(shared.signal, 'abort').length, workload).toBeLessThanOrEqual(16);
      await Promise.all(running);
      expect(getEventListeners(shared.signal, 'abort'), workload).toHaveLength(0);
    }
    expect(warnings).toEqual([]);
  });

  it.each(CELLS)('is not used by the gateway: client $near, backend $far', { timeout: LONG }, async (cell) => {
    const { backends } = await bothEras();
    await using at = await serve(backends);
    const client = await at.client({ era: cell.near });
    await client.callTool(`${cell.workload}_quick`);
    using signals = watchSignals();
    const token = { progressToken: 1 };
    await times(200, () => client.callTool(`${cell.workload}_quick`, {}, token));
    expect(signals.most()).toBeLessThanOrEqual(4);
    await client.close();
  });
});

describe('one backend session', () => {
  it.each(CELLS)('serves 100 calls: client $near, backend $far', { timeout: LONG }, async ({ near, far, workload }) => {
    const { backends, old, young } = await bothEras();
    await using at = await serve(backends);
    const client = await at.client({ era: near });
    await times(100, () => client.callTool(`${workload}_quick`));
    const notes = (workload === 'old' ? old : young).notes();
    expect(notes.filter((line) => line.startsWith('call quick'))).toHaveLength(100);
    // The gateway's own, with which it lists, and the client's.
    expect(notes.filter((line) => line === 'initialize')).toHaveLength(far === '2025-11-25' ? 2 : 0);
    await client.close();
  });

  it('and one process serve 100 calls to a program', { timeout: LONG }, async () => {
    const { backend, notes } = hardStdio();
    await using at = await serve({ piped: backend });
    const client = await at.client({ era: '2025-11-25' });
    await times(100, () => client.callTool('piped_quick'));
    expect(notes().filter((line) => line === 'start')).toHaveLength(2);
    expect(notes().filter((line) => line === 'initialize')).toHaveLength(2);
    await client.close();
  });
});

describe('keys', () => {
  it('are derived once per gateway and never per call; only sealed states are encrypted', async () => {
    const server = fakeServer(['2026-07-28'])
      .tool('quick')
      .tool('ask', ({ params }) =>
        params.inputResponses === undefined
          ? {
              resultType: 'input_required',
              inputRequests: { who: { method: 'elicitation/create', params: { message: 'who?' } } },
              requestState: 'mine',
            }
          : { resultType: 'complete', content: [] },
      );
    let at: Awaited<ReturnType<typeof testGateway>> | undefined;
    const boot = await cryptoDuring(async () => {
      at = await testGateway({ backends: { far: server } });
    });
    if (at === undefined) throw new Error('no gateway');
    expect(boot).toEqual({ hkdfSync: 1 });
    const answer = (): JsonObject => ({ action: 'accept', content: {} });
    const old = await at.client({ era: '2025-11-25', capabilities: { elicitation: {} }, answer });
    const young = await at.client({ capabilities: { elicitation: {} }, answer });
    const plain = await cryptoDuring(async () => {
      await times(50, () => old.callTool('quick'));
      await times(50, () => young.callTool('quick'));
    });
    expect(plain).toEqual({});
    const asked = await cryptoDuring(() => times(20, () => young.callTool('ask')));
    expect(asked).toEqual({ createCipheriv: 20, createDecipheriv: 20 });
    await at[Symbol.asyncDispose]();
  });
});

describe('the log', () => {
  it.each(['debug', 'info'] as const)('has no line per call at %s', { timeout: LONG }, async (logLevel) => {
    const { backends } = await bothEras();
    await using at = await serve({ ...backends, piped: hardStdio().backend }, { logLevel });
    const clients: NearClient[] = [];
    for (const { near, workload } of CELLS) {
      const client = await at.client({ era: near });
      clients.push(client);
      await client.callTool(`${workload}_quick`);
      await client.callTool('piped_quick');
    }
    const before = at.lines.length;
    for (const [index, { workload }] of CELLS.entries()) {
      const client = clients[index] as NearClient;
      await times(50, () => client.callTool(`${workload}_quick`, { secret: 'not for a log' }));
      await times(50, () => client.callTool('piped_quick', { secret: 'not for a log' }));
      await client.toolNames();
    }
    expect(at.lines.slice(before)).toEqual([]);
    expect(at.lines.join('')).not.toContain('not for a log');
    for (const client of clients) await client.close();
  });
});

describe('what npx starts', () => {
  /** A mark on the command lines of the processes of a test. */
  const marker = (): string => `proof-${randomUUID()}`;
  const npx = (mark: string) =>
    ({
      transport: 'stdio',
      command: { file: npxPath(), args: ['--no', 'mcp-server-memory', mark], cwd: REPOSITORY },
      era: 'legacy',
    }) as const;
  const commands = (mark: string): string =>
    processesWith(mark)
      .map(({ command }) => command)
      .join('\n');

  /** The groups of what is marked: npx leads each, under a title of its own. */
  const groupsOf = (mark: string): ReadonlySet<number> => new Set(processesWith(mark).map(({ group }) => group));
  const membersOf = (groups: ReadonlySet<number>) => processes().filter(({ group }) => groups.has(group));

  it('ends with its client, its backend and its gateway', { timeout: LONG }, async () => {
    const mark = marker();
    await using at = await serve({ graph: npx(mark) });
    const own = groupsOf(mark);
    expect([...own]).toHaveLength(1);
    expect(membersOf(own).length, commands(mark)).toBeGreaterThanOrEqual(2);
    const client = await at.client({ era: '2025-11-25' });
    await client.callTool('graph_read_graph');
    const both = groupsOf(mark);
    expect([...both]).toHaveLength(2);
    await client.close();
    await until(() => groupsOf(mark).size === 1);
    at.setBackends({});
    await until(() => membersOf(both).length === 0);
    at.setBackends({ graph: npx(mark) });
    await until(() => at.gateway.backends()[0]?.status === 'ready');
    const again = groupsOf(mark);
    expect([...again]).toHaveLength(1);
    await at.gateway.stop();
    expect(membersOf(again)).toEqual([]);
    expect(commands(mark)).toBe('');
  });

  it('ends when only npx itself is killed', { timeout: LONG }, async () => {
    const mark = marker();
    await using at = await serve({ graph: npx(mark) });
    const [leader = 0] = groupsOf(mark);
    const helpers = new Set(processesWith(mark).map(({ pid }) => pid));
    expect(helpers.has(leader)).toBe(false);
    process.kill(leader, 'SIGKILL');
    await until(() => processes().every(({ pid }) => !helpers.has(pid)));
    await at.gateway.stop();
    expect(commands(mark)).toBe('');
  });

  it('ends when a workload of `toolmgr run npx://…` is stopped', { timeout: LONG }, async () => {
    const state = temporaryFolder('run');
    onTestFinished(async () => {
      const names = (await readWorkloads(state)).map(({ name }) => name);
      if (names.length > 0) await toolmgr(state, 'rm', '--force', ...names);
    }, LONG);
    const mark = marker();
    const target = 'npx://@modelcontextprotocol/server-memory';
    expect(await toolmgr(state, 'run', '--name', 'graph', target, '--', mark)).toMatchObject({ code: 0, err: '' });
    expect((await readWorkload(state, 'graph'))?.status).toBeDefined();
    expect(processesWith(mark).length, commands(mark)).toBeGreaterThanOrEqual(1);
    expect(await toolmgr(state, 'stop', 'graph')).toMatchObject({ code: 0 });
    expect(commands(mark)).toBe('');
  });
});

describe('a list', () => {
  it('waits for a backend that starts after a second', { timeout: LONG }, async () => {
    await using at = await serve({ late: hardStdio({ helloMs: 1_000 }).backend }, { isImpatient: true });
    for (const { near } of CELLS.slice(1, 3)) {
      const client = await at.client({ era: near });
      expect(await client.toolNames()).toContain('late_quick');
      expect(await client.callTool('late_quick')).toMatchObject({ content: [{ text: 'quick' }] });
      await client.close();
    }
  });

  it('does not wait longer than `limits.discoveryMs`, and clients are notified when the backend is ready', async () => {
    const { backends } = await bothEras();
    const late = hardStdio({ helloMs: 2_500 }).backend;
    const plan = { limits: { discoveryMs: 800 } };
    await using at = await serve({ ...backends, late }, { isImpatient: true, plan });
    const client = await at.client();
    const names = await client.toolNames();
    expect(names).toContain('new_quick');
    expect(names).not.toContain('late_quick');
    let isTold = false;
    const listening = await at.client();
    const listen = listening
      .request('subscriptions/listen', { notifications: { toolsListChanged: true } })
      .then(({ told }) => {
        isTold = told.some(({ method }) => method === 'notifications/tools/list_changed');
      });
    await until(() => at.gateway.counts().streams === 1);
    await until(async () => (await client.toolNames()).includes('late_quick'));
    await client.close();
    await at.gateway.stop();
    await listen;
    expect(isTold).toBe(true);
  });
});

function npxPath(): string {
  return execFileSync('/bin/sh', ['-c', 'command -v npx'], { encoding: 'utf8' }).trim();
}
