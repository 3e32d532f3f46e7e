import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { endLeftProcesses, RUN_VARIABLE } from './support/left-processes.ts';
import { processes } from './support/processes.ts';
import { until } from './support/until.ts';

it.skipIf(process.platform !== 'linux')(
  'programs that the tests of a run have left are ended, and no others',
  async () => {
    const left = (run: string): number => {
      const line = 'sleep 600 >/dev/null 2>&1 & echo $!';
      const { stdout } = spawnSync('sh', ['-c', line], {
        env: { PATH: process.env.PATH, [RUN_VARIABLE]: run },
        encoding: 'utf8',
      });
      const pid = Number(stdout);
      onTestFinished(() => void (isThere(pid) && process.kill(pid, 'SIGKILL')));
      return pid;
    };
    const isThere = (pid: number): boolean => processes().some((row) => row.pid === pid);
    const [ours, others] = [randomUUID(), randomUUID()];
    const [first, second] = [left(ours), left(others)];
    expect(endLeftProcesses(ours)).toEqual(['sleep 600']);
    await until(() => !isThere(first));
    expect(isThere(second)).toBe(true);
    expect(endLeftProcesses(ours)).toEqual([]);
  },
);
