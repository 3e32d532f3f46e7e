import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { markProcess } from '@toolmgr/plugins/kit/files';
import {
  changeConfig,
  changeStatus,
  createRecord,
  readWorkloads,
  recordReader,
  removeRecord,
  workloadDir,
} from '@toolmgr/plugins/kit/workloads';
import { beforeEach, describe, expect, it } from 'vitest';
import { configOf } from '../../../../hosts/manager/workloads/changes.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

let state: string;

beforeEach(() => {
  state = temporaryFolder('cache');
});

describe('a reader of all workloads', () => {
  it('sees every change that was made before it was asked', async () => {
    const reader = recordReader(state);
    expect(await reader.read()).toEqual([]);
    for (const name of ['b', 'a']) await createRecord(state, configOf(name, 'first'));
    expect((await reader.read()).map(({ name }) => name)).toEqual(['a', 'b']);
    for (let n = 0; n < 30; n++) {
      await changeConfig(state, 'a', (config) => ({ ...config, env_vars: { LEVEL: String(n) } }));
      if (n % 10 === 0) await delay(80); // then the files are old enough to be kept
      const [first] = await reader.read();
      expect(first?.config?.env_vars.LEVEL).toBe(String(n));
    }
    await removeRecord(state, 'b');
    expect((await reader.read()).map(({ name }) => name)).toEqual(['a']);
    expect(await reader.read()).toEqual(await readWorkloads(state));
  });

  it('tells whether a process runs each time', async () => {
    const reader = recordReader(state);
    await createRecord(state, configOf('a', 'first'));
    const proxy = await markProcess(process.pid);
    if (proxy === undefined) throw new Error('no mark');
    await changeStatus(state, 'a', () => ({ status: 'running', proxy }));
    await delay(80);
    await reader.read();
    expect(await reader.read()).toMatchObject([{ alive: true, status: { status: 'running' } }]);
    await changeStatus(state, 'a', () => ({ status: 'running', proxy: { ...proxy, started: 'other' } }));
    await delay(80);
    await reader.read();
    expect(await reader.read()).toMatchObject([{ alive: false, status: { status: 'unhealthy' } }]);
  });

  it('reads 1,000 workloads again in some milliseconds', async () => {
    await createRecord(state, configOf('w', 'first'));
    const files = ['run.json', 'status.json'] as const;
    const texts = await Promise.all(
      files.map((file) => import('node:fs').then((fs) => fs.readFileSync(join(workloadDir(state, 'w'), file), 'utf8'))),
    );
    for (let n = 0; n < 999; n++) {
      const folder = workloadDir(state, `w${n}`);
      await mkdir(folder);
      await writeFile(join(folder, 'run.json'), (texts[0] ?? '').replace('"w"', `"w${n}"`));
      await writeFile(join(folder, 'status.json'), texts[1] ?? '');
    }
    await delay(80);
    const reader = recordReader(state);
    expect(await reader.read()).toHaveLength(1_000);
    const times: number[] = [];
    for (let n = 0; n < 30; n++) {
      const startMs = performance.now();
      await reader.read();
      times.push(performance.now() - startMs);
    }
    // the best of many: the machine of the test has other work
    const bestMs = Math.min(...times);
    console.info(`1,000 workloads are read in ${bestMs.toFixed(1)} ms`);
    expect(bestMs).toBeLessThan(50);
  });
});
