import { setTimeout as delay } from 'node:timers/promises';
import type { BackendState, Gateway, Log, ToolEntry } from '@toolmgr/core';
import { widenYoungGeneration } from '../../shared/engine.ts';

type ReadGateway = Pick<Gateway, 'backends' | 'catalog' | 'settled'>;

const CHECK_MS = 300; // more than limits.coalesceMs, after which the catalogue has the tools of a backend that is ready

/**
 * Waits until all backends have answered or timed out, then sets V8 up for calls and logs one line per backend, and another one
 * when a program that was still starting is ready. The core logs why one is not.
 */
export async function logBackends(gateway: ReadGateway, log: Log): Promise<void> {
  await gateway.settled();
  widenYoungGeneration();
  const states = gateway.backends();
  for (const state of states) logBackend(state, gateway, log);
  let starting = states.filter(isStarting).map(({ backend }) => backend.name);
  while (starting.length > 0) {
    const waited = gateway.backends().filter(({ backend }) => starting.includes(backend.name));
    await delay(CHECK_MS, undefined, { ref: false });
    for (const state of waited) if (state.status === 'ready') logBackend(state, gateway, log);
    starting = waited.filter(isStarting).map(({ backend }) => backend.name);
  }
}

function logBackend(state: BackendState, gateway: ReadGateway, log: Log): void {
  const { backend, status, era, cause, needsCaller } = state;
  const fields = {
    backend: backend.name,
    status,
    tools: toolsOf(gateway).filter((tool) => tool.backend === backend.name).length,
  };
  if (status === 'ready') log.info('backend ready', { ...fields, ...(era === undefined ? {} : { revision: era }) });
  else if (isStarting(state)) log.info('backend still starting', fields);
  else if (needsCaller)
    log.info('backend is asked for its lists with the credentials of each caller', { backend: backend.name });
  else log.warn('backend unavailable', { ...fields, ...(cause === undefined ? {} : { cause: cause.message }) });
}

function isStarting({ startingSinceMs, cause }: BackendState): boolean {
  return startingSinceMs !== undefined && cause === undefined;
}

/** Empty while there is no catalogue, e.g. because names collide; the log has the reason. */
function toolsOf(gateway: ReadGateway): readonly ToolEntry[] {
  try {
    return gateway.catalog().allTools();
  } catch {
    return [];
  }
}
