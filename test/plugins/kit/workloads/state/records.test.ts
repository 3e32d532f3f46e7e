import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { markProcess, stateDir, withLock } from '@toolmgr/plugins/kit/files';
import {
  changeStatus,
  createRecord,
  readWorkload,
  readWorkloads,
  recordReader,
  removeRecord,
  transitions,
  WORKLOAD_FILES,
  workloadDir,
  workloadsDir,
} from '@toolmgr/plugins/kit/workloads';
import { beforeEach, describe, expect, it } from 'vitest';
import { proves } from '../../../../support/proves.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { until } from '../../../../support/until.ts';
import { workloadConfigOf } from '../../../../support/workload-config.ts';
import { withFailingWrites } from '../../../skills/install/failing-writes.ts';

let state: string;

beforeEach(() => {
  state = temporaryFolder('records');
});

const statusOf = (name: string): string => join(workloadDir(state, name), WORKLOAD_FILES.status);

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe('workload records', () => {
  it('stores the configuration, readable by its owner only', async () => {
    const config = workloadConfigOf('one', { env_vars: { TOKEN: 'secret' } });
    expect(await createRecord(state, config)).toBe(true);
    expect(await readWorkload(state, 'one')).toMatchObject({
      name: 'one',
      config,
      alive: false,
      status: { status: 'stopped' },
    });
    expect(await modeOf(workloadDir(state, 'one'))).toBe('700');
    expect(await modeOf(workloadsDir(state))).toBe('700');
    for (const file of [WORKLOAD_FILES.config, WORKLOAD_FILES.status]) {
      expect(await modeOf(join(workloadDir(state, 'one'), file))).toBe('600');
    }
  });

  it('gives a name to one workload only, also with parallel requests', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => createRecord(state, workloadConfigOf('one'))));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect((await readdir(workloadsDir(state))).filter((name) => name !== '.changed')).toEqual(['one']);
  });

  it('changes a status sequentially', async () => {
    await createRecord(state, workloadConfigOf('one'));
    const count = (message: string | undefined): string => String(Number(message ?? 0) + 1);
    await Promise.all(
      Array.from({ length: 10 }, () =>
        changeStatus(state, 'one', ({ status }) => ({ status: 'stopped', message: count(status.message) })),
      ),
    );
    expect((await readWorkload(state, 'one'))?.status.message).toBe('10');
  });

  it('trusts a running status only while exactly that process runs', async () => {
    const mark = await markProcess(process.pid);
    if (mark === undefined) throw new Error('this process does not run');
    await createRecord(state, workloadConfigOf('one'));
    const proxied = (proxy: typeof mark, status: 'running' | 'starting' | 'stopping') =>
      changeStatus(state, 'one', () => ({ status, proxy }));
    expect(await proxied(mark, 'running')).toMatchObject({ alive: true, status: { status: 'running' } });
    // the same number, started at another time: a recycled pid
    const recycled = { ...mark, started: `${mark.started}0` };
    expect(await proxied(recycled, 'running')).toMatchObject({
      alive: false,
      status: { status: 'unhealthy', message: 'its proxy ended unexpectedly' },
    });
    expect(await proxied(recycled, 'starting')).toMatchObject({ status: { status: 'error' } });
    expect(await proxied(recycled, 'stopping')).toMatchObject({ status: { status: 'stopped' } });
  });

  it('removes only a workload that does not run', async () => {
    const mark = await markProcess(process.pid);
    await createRecord(state, workloadConfigOf('one'));
    await changeStatus(state, 'one', () => ({ status: 'running', proxy: mark }));
    expect(await removeRecord(state, 'one')).toBe('running');
    await changeStatus(state, 'one', () => ({ status: 'stopped' }));
    expect(await removeRecord(state, 'one')).toBe('removed');
    expect(await removeRecord(state, 'one')).toBe('gone');
    expect(await readWorkloads(state)).toEqual([]);
    expect(await changeStatus(state, 'one', () => ({ status: 'running' }))).toBeUndefined();
  });

  it('counts the starts of a new workload from above those of a removed one with its name', async () => {
    const started = async () => {
      await createRecord(state, workloadConfigOf('one'));
      const now = await changeStatus(state, 'one', (record) => {
        const said = transitions.requestStart(record, undefined);
        return said !== undefined && 'change' in said ? said.change : undefined;
      });
      return now?.status.generation ?? 0;
    };
    const first = await started();
    await changeStatus(state, 'one', () => ({ status: 'stopped' }));
    expect(await removeRecord(state, 'one')).toBe('removed');
    await delay(2);
    expect(await started()).toBeGreaterThan(first);
  });

  it('reports an unreadable file as an error of its workload, and reads the others', async () => {
    await createRecord(state, workloadConfigOf('good'));
    await createRecord(state, workloadConfigOf('torn'));
    await createRecord(state, workloadConfigOf('odd'));
    await writeFile(join(workloadDir(state, 'torn'), WORKLOAD_FILES.status), '{"format":1,"sta');
    await writeFile(join(workloadDir(state, 'odd'), WORKLOAD_FILES.config), '{"format":2}');
    const read = await readWorkloads(state);
    expect(read.map(({ name, status }) => [name, status.status])).toEqual([
      ['good', 'stopped'],
      ['odd', 'error'],
      ['torn', 'unknown'],
    ]);
    expect(read.find(({ name }) => name === 'torn')?.status.message).toContain('cannot be read');
    expect(await removeRecord(state, 'torn')).toBe('removed');
  });

  proves('choice.run.damaged-status', 'knows the proxy of a workload whose status cannot be read', async () => {
    const proxy = await markProcess(process.pid);
    await createRecord(state, workloadConfigOf('one'));
    await changeStatus(state, 'one', () => ({ status: 'running', proxy, runId: 'r', port: 4711, url: 'u' }));
    for (const damage of [() => writeFile(statusOf('one'), '{"format":1,"sta'), () => rm(statusOf('one'))]) {
      await damage();
      const read = await readWorkload(state, 'one');
      expect(read).toMatchObject({ alive: true, status: { status: 'unknown', proxy, runId: 'r', port: 4711 } });
      expect(await recordReader(state).read()).toMatchObject([{ alive: true, status: { status: 'unknown' } }]);
      expect(await removeRecord(state, 'one')).toBe('running');
    }
  });

  proves('choice.run.full-disk', 'changes a status although the disk is full', async () => {
    await createRecord(state, workloadConfigOf('one'));
    await changeStatus(state, 'one', () => ({ status: 'error', message: 'x'.repeat(500) }));
    const change = (message: string) => changeStatus(state, 'one', () => ({ status: 'stopped', message }));
    const { writes } = await withFailingWrites({ at: 0, andAllLater: false, code: 'ENOSPC' }, () => change('0'));
    for (let at = 2; at <= writes; at++) {
      const { outcome } = await withFailingWrites({ at, andAllLater: false, code: 'ENOSPC' }, () => change(`${at}`));
      expect(outcome, `full at write ${at}`).toMatchObject({
        status: 'fulfilled',
        value: { status: { message: `${at}` } },
      });
    }
  });

  it('refuses names that lead out of its folder', async () => {
    await writeFile(join(state, 'run.json'), '{}');
    for (const name of ['..', '.', '../x', 'a/b', '', '.new-x', '-f', 'x'.repeat(101)]) {
      expect(await readWorkload(state, name), name).toBeUndefined();
    }
  });

  it('removes old leftovers of killed processes', async () => {
    const folder = workloadsDir(state);
    for (const name of ['.new-a-1', '.gone-b-1', '.new-c-1']) await mkdir(join(folder, name), { recursive: true });
    const old = new Date(Date.now() - 120_000);
    for (const name of ['.new-a-1', '.gone-b-1']) await utimes(join(folder, name), old, old);
    await createRecord(state, workloadConfigOf('one'));
    expect((await readdir(folder)).sort()).toEqual(['.changed', '.new-c-1', 'one']);
  });

  proves(
    ['ask.run.state-atomic', 'ask.run.state-survives-kill'],
    'stays complete when its writer is killed at any moment',
    async () => {
      for (let round = 0; round < 12; round++) {
        const writer = fork(join(import.meta.dirname, 'writer.ts'), [state, `w${round}`], {
          execArgv: ['--conditions=development'],
          stdio: 'ignore',
        });
        await once(writer, 'message'); // it now writes as fast as it can
        await until(async () => (await readWorkloads(state)).some(({ name }) => name === `w${round}`));
        const untilMs = performance.now() + round * 7;
        // reads continuously: records are complete at every moment, not only after the kill
        while (performance.now() < untilMs) whole(await readWorkloads(state));
        writer.kill('SIGKILL');
        await once(writer, 'exit');
        const read = await readWorkloads(state);
        whole(read);
      }
      const left = await readWorkloads(state);
      expect(left.length).toBeGreaterThan(0);
      const name = left[0]?.name ?? '';
      expect(await changeStatus(state, name, () => ({ status: 'stopped', message: 'mine' }))).toMatchObject({
        status: { message: 'mine' },
      });
    },
  );

  it('serialises two changes of one workload', async () => {
    const order: string[] = [];
    let release: () => void = () => {};
    const first = withLock(state, 'one', async () => {
      order.push('first in');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      order.push('first out');
    });
    await until(() => order.length === 1);
    const second = withLock(state, 'one', async () => order.push('second'));
    await withLock(state, 'two', async () => order.push('other'));
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(['first in', 'other', 'first out', 'second']);
  });
});

/** Every record has both files, readable and from the same start. */
function whole(read: Awaited<ReturnType<typeof readWorkloads>>): void {
  for (const { name, config, status } of read) {
    expect(config?.name, `${name}: ${status.message}`).toBe(name);
    expect(status.message ?? 'filler').toContain('filler');
  }
}

describe('the state folder', () => {
  proves('choice.general.paths', 'is TOOLMGR_STATE_DIR, else toolmgr in the XDG state folder', () => {
    expect(stateDir({ TOOLMGR_STATE_DIR: '/t', XDG_STATE_HOME: '/x', HOME: '/h' })).toBe('/t');
    expect(stateDir({ XDG_STATE_HOME: '/x', HOME: '/h' })).toBe('/x/toolmgr');
    expect(stateDir({ XDG_STATE_HOME: 'relative', HOME: '/h' })).toBe('/h/.local/state/toolmgr');
    expect(stateDir({ HOME: '/h' })).toBe('/h/.local/state/toolmgr');
  });

  it('is empty before the first workload', async () => {
    expect(await readWorkloads(join(state, 'nowhere'))).toEqual([]);
  });

  it('contains readable text', async () => {
    await createRecord(state, workloadConfigOf('one'));
    const text = await readFile(join(workloadDir(state, 'one'), WORKLOAD_FILES.config), 'utf8');
    expect(text).toContain('\n  "name": "one",\n');
  });
});
