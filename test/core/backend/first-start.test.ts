import { type Backend, DEFAULT_LIMITS } from '@toolmgr/core';
import { testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { StartTime } from '../../../core/backend/sessions/first-start.ts';
import { packageRunOf } from '../../../core/backend/transports/package-runner.ts';
import { hardStdio } from '../../proof/rig/programs.ts';
import { type PausedRunner, pausedRunner } from '../../support/package-runner.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { callOf, managerWith, send, testOwner } from './support.ts';

const backendOf = (runner: PausedRunner, name: string, kind: 'legacy' | 'modern', pkg = name): Backend => ({
  name,
  transport: 'stdio',
  command: { file: runner.file, args: runner.args(pkg, kind), env: { npm_config_cache: runner.cache } },
});

const SHORT = { helloMs: 50, discoveryMs: 200 };

describe('the first start of a program', () => {
  proves('choice.first-start.minutes', 'may take five minutes unless it is set', () => {
    expect(DEFAULT_LIMITS.firstStartMs).toBe(300_000);
  });

  for (const [kind, era] of [
    ['legacy', '2025-11-25'],
    ['modern', '2026-07-28'],
  ] as const) {
    proves('choice.first-start.not-killed', `is not ended after limits.helloMs: a ${kind} server`, async () => {
      const runner = pausedRunner();
      const { manager } = await managerWith([backendOf(runner, 'slow', kind)], { limits: SHORT });
      expect(manager.states()[0]).toMatchObject({ status: 'unknown', startingSinceMs: expect.any(Number) });
      runner.release();
      await until(() => manager.states()[0]?.status === 'ready');
      expect(manager.eraOf('slow')).toBe(era);
      expect(
        manager
          .listings('')
          .get('slow')
          ?.tools.map(({ key }) => key),
      ).toEqual(['ping']);
      expect(runner.notes()).toEqual(['start slow', 'installed slow']);
      expect(manager.states()[0]).not.toHaveProperty('startingSinceMs');
    });
  }

  proves('choice.first-start.bounded', 'ends after limits.firstStartMs, and is tried again', async () => {
    const runner = pausedRunner();
    const limits = { ...SHORT, firstStartMs: 500 };
    const { manager } = await managerWith([backendOf(runner, 'slow', 'legacy')], { limits });
    await until(() => manager.states()[0]?.status === 'unavailable');
    expect(manager.states()[0]).toMatchObject({ cause: { category: 'timeout' } });
    await until(() => runner.notes().filter((line) => line === 'start slow').length > 1);
  });

  proves('choice.first-start.calls', 'fails calls at once, with the seconds so far', async () => {
    const runner = pausedRunner();
    const { manager } = await managerWith([backendOf(runner, 'slow', 'legacy')], { limits: SHORT });
    const { call } = callOf({ backend: 'slow', original: 'ping', owner: testOwner('session:a').owner });
    await expect(manager.send(call)).rejects.toMatchObject({
      code: 'BACKEND_STARTING',
      message: expect.stringMatching(/^backend "slow" is still starting, \d+ s so far; its first start may take 300 s/),
    });
  });

  proves('choice.first-start.calls', 'is the error of calls of names that are still unknown', async () => {
    const runner = pausedRunner();
    const { name: _, ...slow } = backendOf(runner, 'slow', 'legacy');
    await using kit = await testGateway({ backends: { slow }, plan: { limits: SHORT } });
    const client = await kit.client();
    const asked = await client.request('tools/call', { name: 'ping' });
    expect(asked.error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(
        /"ping" not found; it may belong to a backend that is still starting: slow, \d+ s/,
      ),
    });
    runner.release();
    await until(async () => (await client.toolNames()).includes('ping'));
    expect((await client.request('tools/call', { name: 'pong' })).error?.message).not.toContain('starting');
  });

  proves('choice.first-start.one-install', 'never installs one package twice at a time into one cache', async () => {
    const runner = pausedRunner();
    const all = ['a', 'b', 'c'].map((name) => backendOf(runner, name, 'legacy', 'same'));
    const other = backendOf(runner, 'other', 'legacy');
    const { manager } = await managerWith([...all, other], { limits: SHORT });
    await until(() => runner.notes().includes('start same') && runner.notes().includes('start other'));
    expect(runner.notes().filter((line) => line === 'start same')).toHaveLength(1);
    runner.release();
    await until(() => manager.states().every(({ status }) => status === 'ready'));
    expect(runner.notes().filter((line) => line === 'start same')).toHaveLength(3);
    expect(runner.notes().join()).not.toContain('overlap');
    await send(manager, { backend: 'a', original: 'ping', owner: testOwner('session:a').owner }).catch(() => {});
  });
});

describe('each later start of a program', () => {
  const HELLO_MS = 700;

  proves('choice.first-start.later', 'may take longer than limits.helloMs and the time limit of the call', async () => {
    const { backend, notes } = hardStdio({ helloMs: HELLO_MS });
    const timeouts = { defaultMs: HELLO_MS / 2, perWorkloadMs: {} };
    const limits = { helloMs: 200, discoveryMs: 10_000 };
    const { manager } = await managerWith([{ ...backend, name: 'slow' }], { timeouts, limits });
    expect(manager.states()[0]?.status).toBe('ready');
    const calls = ['a', 'b', 'c'].map((key) => {
      const { owner } = testOwner(`session:${key}`);
      return send(manager, { backend: 'slow', original: 'quick', owner });
    });
    expect((await Promise.all(calls)).map(({ isError }) => isError)).toEqual([false, false, false]);
    expect(notes().filter((line) => line === 'start')).toHaveLength(4);
  });

  proves(
    'choice.first-start.later',
    'is bounded by a multiple of what the last ones took, and by limits.firstStartMs',
    () => {
      const time = new StartTime();
      const took = (ms: number): void => {
        time.began();
        time.ended(ms);
      };
      expect([time.isFirst, time.longestMs(300_000)]).toEqual([true, 300_000]);
      took(12_000);
      expect([time.isFirst, time.longestMs(300_000), time.longestMs(30_000)]).toEqual([false, 48_000, 30_000]);
      time.began();
      time.began(); // two at the same time slow one another
      expect(time.longestMs(300_000)).toBe(96_000);
      time.ended();
      time.ended(); // neither answered
      took(1_000);
      took(1_000);
      expect(time.longestMs(300_000)).toBe(12_000); // an installation is forgotten
    },
  );
});

describe('the packages of a command', () => {
  const env = { HOME: '/home/ada' };
  const packagesOf = (file: string, ...args: string[]) => packageRunOf({ file, args }, env)?.packages;

  it('are parsed for every known runner, without versions and options', () => {
    expect(packagesOf('npx', '-y', '@scope/pkg@1.2', 'arg')).toEqual(['@scope/pkg']);
    expect(packagesOf('/usr/bin/npx', '--yes', '--package=b', '-p', 'a@latest', 'run-it')).toEqual(['a', 'b']);
    expect(packagesOf('npm', 'exec', '--registry', 'http://x', '--', 'pkg')).toEqual(['pkg']);
    expect(packagesOf('cmd', '/c', 'npx', '-y', 'pkg')).toEqual(['pkg']);
    expect(packagesOf('C:\\nodejs\\npx.cmd', '-y', 'pkg')).toEqual(['pkg']);
    expect(packagesOf('uvx', '--from', 'git-mcp==1.0', 'run')).toEqual(['git-mcp']);
    expect(packagesOf('uv', 'tool', 'run', 'mcp-server-time@latest')).toEqual(['mcp-server-time']);
    expect(packagesOf('pnpm', 'dlx', 'pkg')).toEqual(['pkg']);
  });

  it('are none of a program that installs nothing', () => {
    expect(packagesOf('node', 'npx')).toBeUndefined();
    expect(packagesOf('npm', 'start')).toBeUndefined();
    expect(packagesOf('npx')).toBeUndefined();
  });

  it('go where the environment of the program says', () => {
    const cacheOf = (file: string, more: object) => packageRunOf({ file, args: ['pkg'] }, { ...env, ...more })?.cache;
    expect(cacheOf('npx', {})).toBe('/home/ada/.npm');
    expect(cacheOf('npx', { npm_config_cache: '/c' })).toBe('/c');
    expect(cacheOf('uvx', { XDG_CACHE_HOME: '/x' })).toBe('/x/uv');
    expect(cacheOf('uvx', { UV_CACHE_DIR: '/u' })).toBe('/u');
  });
});
