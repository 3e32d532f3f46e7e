import { explainCause } from '@toolmgr/core';
import { followWorkloads } from '@toolmgr/plugins/clients';
import { clientPlaces } from '../shared/clients/client-places.ts';
import type { ManagerParts } from './plan.ts';

/** Work that runs while the manager does. Each feature adds one line. Resolves when all of it has ended after `parts.signal`. */
export async function backgroundWork(parts: ManagerParts): Promise<void> {
  const { state, env, log, publish, signal } = parts;
  const work = { clients: followWorkloads({ ...clientPlaces(state, env), log, publish, signal }) };
  await Promise.all(
    Object.entries(work).map(([name, running]) =>
      running.catch((cause: unknown) => log.error(`${name}: ended: ${explainCause(cause)}`)),
    ),
  );
}
