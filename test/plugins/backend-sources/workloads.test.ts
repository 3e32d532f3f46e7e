import type { Backend } from '@toolmgr/core';
import {
  type WorkloadHandle,
  type WorkloadRuntime,
  type WorkloadState,
  workloadRuntimes,
} from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it } from 'vitest';
import plugin from '../../../plugins/backend-sources/workloads/index.ts';

import remoteUrl from '../../../plugins/workloads/remote-url/index.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { until } from '../../support/until.ts';

const far = (name: string, url = `http://127.0.0.1:1/${name}`) =>
  ({ runtime: 'remote-url', name, transport: 'streamable-http', url }) as const;

async function boot(workloads: readonly object[], runtimes: Readonly<Record<string, WorkloadRuntime>> = {}) {
  const core = await bootPlugin(plugin, { workloads: workloads as ReturnType<typeof far>[], stopMs: 100 });
  remoteUrl.apply(core, {});
  for (const [name, runtime] of Object.entries(runtimes)) core.slot(workloadRuntimes).register(name, runtime);
  const snapshots: (readonly Backend[])[] = [];
  const abort = new AbortController();
  const source = core.slots.backendSources.get('backend-sources/workloads');
  const watching = source.watch((snapshot) => snapshots.push(snapshot), abort.signal);
  return { core, snapshots, abort, watching };
}

const names = (snapshot: readonly Backend[] | undefined): readonly string[] => (snapshot ?? []).map(({ name }) => name);

describe('backend-sources/workloads', () => {
  it('starts workloads with their runtime and serves them in plan order', async () => {
    const { snapshots, abort, watching } = await boot([far('b'), far('a')]);
    await until(() => snapshots.at(-1)?.length === 2);
    expect(snapshots.at(-1)).toEqual([
      { name: 'b', transport: 'streamable-http', url: 'http://127.0.0.1:1/b', metadata: { group: 'default' } },
      { name: 'a', transport: 'streamable-http', url: 'http://127.0.0.1:1/a', metadata: { group: 'default' } },
    ]);
    abort.abort();
    await watching;
  });

  it('retries a workload that cannot be started without delaying others', async () => {
    const { core, snapshots, abort, watching } = await boot([far('bad', 'ftp://x'), far('good')]);
    await until(() => names(snapshots.at(-1)).includes('good'));
    const line = core.lines.find(({ message }) => message === 'workload cannot be started');
    expect(line).toMatchObject({
      level: 'error',
      fields: { workload: 'bad', reason: expect.stringContaining('must begin with http') },
    });
    const { nextTryMs } = line?.fields ?? {};
    expect(Number(nextTryMs) >= 500 && Number(nextTryMs) <= 1_000).toBe(true);
    abort.abort();
    await watching;
  });

  it('stops its workloads before the gateway has stopped, and removes given up ones', async () => {
    const fake = fakeRuntime();
    const { core, snapshots, watching } = await boot(
      [
        { ...far('x'), runtime: 'fake' },
        { ...far('y'), runtime: 'fake' },
      ],
      {
        fake: fake.runtime,
      },
    );
    await until(() => snapshots.at(-1)?.length === 2);
    fake.end('x', { name: 'x', status: 'error', restarts: 10, message: 'given up' });
    await until(() => names(snapshots.at(-1)).join() === 'y');
    await core.hooks.stopping.promise();
    expect(fake.stopped).toEqual(['y']);
    await watching;
  });

  it('fails with the known names when a runtime is not in the plan', async () => {
    const { watching } = await boot([{ ...far('x'), runtime: 'container' }]);
    await expect(watching).rejects.toThrow(/workloadRuntimes has no container.*known: remote-url/);
  });
});

/** A runtime whose workloads the test ends. */
function fakeRuntime() {
  const ends = new Map<string, (state: WorkloadState) => void>();
  const stopped: string[] = [];
  const runtime: WorkloadRuntime = {
    async start({ name, transport, url }): Promise<WorkloadHandle> {
      const ended = new Promise<WorkloadState>((resolve) => ends.set(name, resolve));
      const state: WorkloadState = { name, status: 'running', restarts: 0 };
      return {
        state,
        reach: { transport, url },
        ended,
        logs: () => '',
        stop: async () => {
          stopped.push(name);
        },
      };
    },
  };
  return { runtime, stopped, end: (name: string, state: WorkloadState) => ends.get(name)?.(state) };
}
