import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isRunning, markProcess } from '@toolmgr/plugins/kit/files';
import { describe, expect, it } from 'vitest';
import { until } from '../../../support/until.ts';

describe('process marks', () => {
  it('distinguish a process from another one with its pid', async () => {
    const mark = await markProcess(process.pid);
    if (mark === undefined) throw new Error('this process does not run');
    expect(await markProcess(process.pid)).toEqual(mark);
    expect(await isRunning(mark)).toBe(true);
    expect(await isRunning({ ...mark, started: 'at another time' })).toBe(false);
    expect(await isRunning({ ...mark, pid: process.ppid })).toBe(false);
  });

  it('do not exist after the process has ended', async () => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    const mark = await markProcess(child.pid ?? 0);
    if (mark === undefined) throw new Error('sleep does not run');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await isRunning(mark)).toBe(false);
  });

  it('do not exist for a zombie', async () => {
    // the shell starts a child that ends soon, and before that becomes a program that never reaps it
    const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = await once(parent.stdout, 'data');
    const zombie = Number(String(line).trim());
    try {
      expect(await markProcess(zombie)).toBeDefined();
      await until(async () => (await markProcess(zombie)) === undefined);
      expect(() => process.kill(zombie, 0)).not.toThrow();
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('do not exist for unused pids', async () => {
    for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 30]) expect(await markProcess(pid), String(pid)).toBeUndefined();
  });
});
