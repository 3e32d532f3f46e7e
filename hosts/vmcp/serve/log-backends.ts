import type { Gateway, Log, ToolEntry } from '@toolmgr/core';
import { widenYoungGeneration } from '../../shared/engine.ts';

/** Waits until all backends have answered or timed out, then sets V8 up for calls and logs one line per backend. */
export async function logBackends(gateway: Gateway, log: Log): Promise<void> {
  await gateway.settled();
  widenYoungGeneration();
  const tools = toolsOf(gateway);
  for (const { backend, status, era, cause, startingSinceMs, needsCaller } of gateway.backends()) {
    const fields = {
      backend: backend.name,
      status,
      tools: tools.filter((tool) => tool.backend === backend.name).length,
    };
    if (status === 'ready') log.info('backend ready', { ...fields, ...(era === undefined ? {} : { revision: era }) });
    else if (startingSinceMs !== undefined && cause === undefined) log.info('backend still starting', fields);
    else if (needsCaller)
      log.info('backend is asked for its lists with the credentials of each caller', { backend: backend.name });
    else log.warn('backend unavailable', { ...fields, ...(cause === undefined ? {} : { cause: cause.message }) });
  }
}

/** Empty while there is no catalogue, e.g. because names collide; the log has the reason. */
function toolsOf(gateway: Gateway): readonly ToolEntry[] {
  try {
    return gateway.catalog().allTools();
  } catch {
    return [];
  }
}
