import type { MemoryBudget } from '../contract/bytes-in-flight.ts';
import { throttledLine } from '../extension/log-throttle.ts';
import type { Log } from '../extension/plugin.ts';
import { DEFAULT_LIMITS, type Limits } from '../limits.ts';
import { ByteBudget } from '../mcp/byte-budget.ts';

/**
 * A memory budget for all gateways of a process: `createGateway(plan, { memory })`. Without it each gateway has a budget of its own.
 *
 * `bytes` as `limits.memoryBudgetBytes`: 0 is a third of the memory limit of the control group, or of the heap limit where there is none.
 */
export function createMemoryBudget({ bytes = 0, log }: { readonly bytes?: number; readonly log: Log }): MemoryBudget {
  return loggedBudget({ ...DEFAULT_LIMITS, memoryBudgetBytes: bytes }, { log, now: Date.now });
}

/** A budget that logs its refusals, a few lines a minute. */
export function loggedBudget(
  limits: Pick<Limits, 'memoryBudgetBytes' | 'memoryWaitMs'>,
  clock: Parameters<typeof throttledLine>[0],
): ByteBudget {
  const line = throttledLine(clock, 'requests or results were refused: the memory budget is used up', {
    counted: 'refused',
  });
  return new ByteBudget(limits, ({ held, most }) => line.add({ held, most }));
}
