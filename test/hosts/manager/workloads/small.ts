import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { removeWorkload } from '../../../../hosts/workloads/planning/remove.ts';
import type { ManagerAnswer, StartedManager } from '../../../support/manager.ts';

/** Time of a test that starts workloads, on a busy machine. */
export const LONG = 120_000;

/** The exported configuration of a small server, for an import. */
export function smallConfig(name: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    schema_version: 'v0.1.0',
    name,
    transport: 'stdio',
    process: {
      target: 'small',
      file: process.execPath,
      args: [join(import.meta.dirname, 'server.mjs')],
      cwd: '/',
      start_timeout: '60s',
    },
    ...more,
  };
}

/** Creates a workload and returns its port. */
export async function createSmall(
  manager: StartedManager,
  name: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const made = await manager.request('POST', '/api/v1beta/workloads/import', smallConfig(name, more));
  if (made.status !== 201) throw new Error(made.text);
  return made.body.port;
}

/** Waits for the end of the operation that a 202 names. */
export async function outcomeOf(manager: StartedManager, accepted: ManagerAnswer) {
  const location = accepted.headers.get('location') ?? '';
  for (;;) {
    const { body } = await manager.request('GET', location);
    if (body.status !== 'running') return body;
    await delay(100);
  }
}

/** Removes every workload of a state folder. */
export async function removeAll(state: string): Promise<void> {
  const names = (await readWorkloads(state)).map(({ name }) => name);
  await Promise.all(names.map((name) => removeWorkload(state, name, { force: true })));
}
