import { join } from 'node:path';
import type { ContainerSpec, WorkloadHandle, WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it } from 'vitest';

import { connectEngine, type Engine } from '../../../../plugins/workloads/container/engine.ts';
import { limitsOf } from '../../../../plugins/workloads/container/limits.ts';
import { createContainerRuntime } from '../../../../plugins/workloads/container/start.ts';
import { engineCall, SERVER_IMAGE } from '../../../support/container-engine.ts';
import { LONG, onEngines } from '../../../support/on-engines.ts';
import { until } from '../../../support/until.ts';

const RESTART = { firstDelayMs: 50, maxDelayMs: 1_000, resetAfterMs: 30_000, maxRestarts: 0 };
const SETTINGS = { firstStartTimeoutMs: 60_000, startTimeoutMs: 60_000, restart: RESTART };
const PROGRAM = { source: join(import.meta.dirname, 'limited.mjs'), target: '/app/server.mjs', readOnly: true };
const GIB = 1024 ** 3;

const spec = (more: Partial<ContainerSpec> = {}): WorkloadSpec => ({
  ...{ name: 'limited', group: 'default', transport: 'streamable-http', env: {}, targetPort: 3001 },
  container: { image: SERVER_IMAGE, args: [], mounts: [PROGRAM], ...more },
});

onEngines('a container on', (on) => {
  const { name, runs, proves } = on;

  const started = async (more: Partial<ContainerSpec> = {}): Promise<WorkloadHandle & AsyncDisposable> => {
    const env = on.env;
    const { runtime } = createContainerRuntime(() => connectEngine({ ...process.env, ...env }), SETTINGS);
    const handle = await runtime.start(spec(more), AbortSignal.timeout(LONG));
    return Object.assign(handle, { [Symbol.asyncDispose]: () => handle.stop(1_000) });
  };
  const answer = async ({ reach }: WorkloadHandle, path: string): Promise<unknown> =>
    (await fetch(new URL(path, reach.url))).json();
  const hostConfig = async () =>
    JSON.parse((await engineCall(on.engine.socket, 'GET', '/v1.41/containers/limited/json')).text).HostConfig;

  proves(
    'choice.run.containers-limits',
    `has limits of memory, processors and processes by default and others on demand, and its workload says that it needed more, on ${name}`,
    async () => {
      {
        await using usual = await started();
        expect(await hostConfig()).toMatchObject({ Memory: 2 * GIB, PidsLimit: 1_024 });
        expect((await hostConfig()).NanoCpus).toBeGreaterThanOrEqual(1_000_000_000);
        expect(await answer(usual, '/start')).toBe(100);
        expect(await answer(usual, '/')).toEqual({ root: true, tmp: true });
      }
      await using small = await started({ limits: { memory: '128m', cpus: 0.5, pids: 40 } });
      expect(await hostConfig()).toMatchObject({ Memory: GIB / 8, NanoCpus: 500_000_000, PidsLimit: 40 });
      expect(await answer(small, '/start')).toBeLessThan(40);
      await answer(small, '/eat').catch(() => undefined);
      await until(async () => small.state.status === 'error', LONG);
      expect(small.state.message).toContain('it needed more memory than its limit, which --memory changes');
    },
    LONG,
  );

  runs(
    'with a read-only root writes to /tmp only',
    async () => {
      await using guarded = await started({ readOnlyRoot: true });
      expect(await answer(guarded, '/')).toEqual({ root: false, tmp: true });
    },
    LONG,
  );
});

describe('the limits of a container', () => {
  /** An engine without rights, whose kernel gives it memory and pids only. */
  const poor = (kind: 'docker' | 'podman'): Engine => {
    const info = async () => ({ NCPU: 1, MemoryLimit: true, CpuCfsQuota: kind === 'podman', PidsLimit: true });
    const dial = (_: object, done: (failure: Error | null, found: object) => void) =>
      done(null, { host: { cgroupControllers: ['memory', 'pids'] } });
    const api = { info, modem: { dial } } as unknown as Engine['api'];
    return { kind, socketPath: '/x', version: '1', api, env: {}, owner: async () => ({ id: 'o', place: 'p' }) };
  };

  it('are those that the engine can keep', async () => {
    for (const kind of ['docker', 'podman'] as const) {
      expect(await limitsOf(poor(kind), spec())).toEqual({ Memory: 2 * GIB, PidsLimit: 1_024 });
      expect(await limitsOf(poor(kind), spec({ limits: { memory: '0', cpus: 0, pids: 0 } }))).toEqual({});
      await expect(limitsOf(poor(kind), spec({ limits: { cpus: 1 } }))).rejects.toThrow(
        'workload limited: its container cannot have a limit of cpus: the engine has no controller cpu (cgroups)',
      );
    }
  });
});
