import { type ChildProcess, spawn } from 'node:child_process';
import type { Backend } from '@toolmgr/core';
import { markProcess, type ProcessMark } from '@toolmgr/plugins/kit/files';
import { changeStatus, createRecord, removeRecord } from '@toolmgr/plugins/kit/workloads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import plugin from '../../../plugins/backend-sources/group/index.ts';
import { watchGroup } from '../../../plugins/backend-sources/group/watch-group.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { workloadConfigOf } from '../../support/workload-config.ts';

let state: string;
let abort: AbortController;
let watching: Promise<void>;
const children: ChildProcess[] = [];

beforeEach(() => {
  state = temporaryFolder('group');
  abort = new AbortController();
  watching = Promise.resolve();
});

afterEach(async () => {
  abort.abort();
  await watching;
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function proxy(): Promise<{ child: ChildProcess; mark: ProcessMark }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  children.push(child);
  const mark = await markProcess(child.pid ?? 0);
  if (mark === undefined) throw new Error('the stand-in for a proxy does not run');
  return { child, mark };
}

const runs = (name: string, mark: ProcessMark, port: number) =>
  changeStatus(state, name, () => ({ status: 'running', proxy: mark, port, url: `http://127.0.0.1:${port}/mcp` }));

/** Starts the source through its slot and returns its snapshots. */
async function follow(): Promise<(readonly Backend[])[]> {
  const core = await bootPlugin(plugin, { group: 'dev', stateDir: state });
  const snapshots: (readonly Backend[])[] = [];
  const source = core.slots.backendSources.get('backend-sources/group');
  watching = source.watch((snapshot) => snapshots.push(snapshot), abort.signal);
  await until(() => snapshots.length > 0);
  return snapshots;
}

const names = (snapshot: readonly Backend[] | undefined): readonly string[] => (snapshot ?? []).map(({ name }) => name);

describe('backend-sources/group', () => {
  proves('ask.plugin.group', 'serves the running workloads of its group and follows changes', async () => {
    const { mark } = await proxy();
    const snapshots = await follow();
    expect(snapshots).toEqual([[]]);

    await createRecord(state, workloadConfigOf('b', { group: 'dev' }));
    await createRecord(state, workloadConfigOf('other', { group: 'ops' }));
    await runs('other', mark, 2);
    await runs('b', mark, 1);
    await until(() => names(snapshots.at(-1)).includes('b'));
    expect(snapshots.at(-1)).toEqual([
      { name: 'b', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp', metadata: { group: 'dev' } },
    ]);

    await createRecord(state, workloadConfigOf('a', { group: 'dev' }));
    await runs('a', mark, 3);
    await until(() => names(snapshots.at(-1)).join() === 'a,b');

    await runs('a', mark, 4);
    await until(() => snapshots.at(-1)?.[0]?.url === 'http://127.0.0.1:4/mcp');

    await changeStatus(state, 'a', () => ({ status: 'stopped' }));
    await until(() => names(snapshots.at(-1)).join() === 'b');
    await changeStatus(state, 'b', () => ({ status: 'stopped' }));
    await removeRecord(state, 'b');
    await until(() => snapshots.at(-1)?.length === 0);
  });

  proves('choice.aggregation.no-url-skipped', 'skips a running workload without a URL', async () => {
    const { mark } = await proxy();
    await createRecord(state, workloadConfigOf('a', { group: 'dev' }));
    await changeStatus(state, 'a', () => ({ status: 'running', proxy: mark, port: 1 }));
    await createRecord(state, workloadConfigOf('b', { group: 'dev' }));
    await runs('b', mark, 2);
    const snapshots = await follow();
    expect(names(snapshots.at(-1))).toEqual(['b']);
    await runs('a', mark, 1);
    await until(() => names(snapshots.at(-1)).join() === 'a,b');
  });

  it('removes a workload whose proxy was killed without a record', async () => {
    const { child, mark } = await proxy();
    await createRecord(state, workloadConfigOf('a', { group: 'dev' }));
    await runs('a', mark, 1);
    const snapshots = await follow();
    expect(names(snapshots.at(-1))).toEqual(['a']);
    child.kill('SIGKILL');
    await until(() => snapshots.at(-1)?.length === 0);
  });

  it('does not push the same snapshot twice', async () => {
    const { mark } = await proxy();
    await createRecord(state, workloadConfigOf('a', { group: 'dev' }));
    await runs('a', mark, 1);
    const snapshots: (readonly Backend[])[] = [];
    watching = watchGroup({ state, group: 'dev', push: (s) => snapshots.push(s), signal: abort.signal, pollMs: 10 });
    await until(() => snapshots.length > 0);
    for (let i = 0; i < 5; i++) await runs('a', mark, 1);
    await runs('a', mark, 2);
    await until(() => snapshots.length > 1);
    expect(snapshots.map((snapshot) => snapshot[0]?.url)).toEqual(['http://127.0.0.1:1/mcp', 'http://127.0.0.1:2/mcp']);
  });

  it('ends at once on abort', async () => {
    await follow();
    abort.abort();
    await watching;
  });

  it('refuses an invalid group name', () => {
    expect(plugin.config.safeParse({ group: '../x' }).success).toBe(false);
  });
});
