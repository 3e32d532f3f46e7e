import { quantile } from './cells.ts';
import type { NearClient } from './served.ts';

/** Calls that run in the background while something else happens. */
export interface Steady {
  /** Calls so far. */
  count(): number;
  /** Stops and returns the measurements. */
  stop(): Promise<{
    readonly calls: number;
    readonly p50Ms: number;
    readonly p99Ms: number;
    readonly failures: number;
  }>;
}

/** Calls tools in turn, one after the other per client, until it is stopped. */
export function steadyCalls(clients: readonly NearClient[], tools: readonly string[]): Steady {
  const times: number[] = [];
  let failures = 0;
  let isOver = false;
  const one = async (client: NearClient, first: number): Promise<void> => {
    for (let n = first; !isOver; n++) {
      const startedMs = performance.now();
      const result = await client.callTool(tools[n % tools.length] ?? '').catch(() => undefined);
      times.push(performance.now() - startedMs);
      if (result === undefined || result.isError === true) failures++;
    }
  };
  const running = Promise.all(clients.map(one));
  return {
    count: () => times.length,
    async stop() {
      isOver = true;
      await running;
      return { calls: times.length, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99), failures };
    },
  };
}
