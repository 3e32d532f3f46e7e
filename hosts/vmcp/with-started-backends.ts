import { dirname, resolve } from 'node:path';
import { createGateway, type Gateway, type GatewayOptions, type PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { httpClientFrom } from '../shared/http-client.ts';
import { reportStarts } from '../shared/report-starts.ts';
import { stderr } from '../shared/terminal.ts';

/** A package may have to be downloaded before its program answers. */
const STARTS_MS = 60_000;

/**
 * Makes a gateway, waits until every backend is ready or has failed, at most a minute, and calls `use`. Programs that take long
 * are named on stderr meanwhile. The gateway is stopped afterwards.
 * @throws what `createGateway` and `use` throw
 */
export async function withStartedBackends<Result>(
  plan: PlanInput,
  file: string,
  options: Omit<GatewayOptions, 'catalogue' | 'baseDir'>,
  use: (gateway: Gateway) => Result | Promise<Result>,
): Promise<Result> {
  const discoveryMs = Math.max(STARTS_MS, plan.limits?.discoveryMs ?? 0);
  const gateway = await createGateway(
    { ...httpClientFrom(process.env), ...plan, limits: { ...plan.limits, discoveryMs } },
    { ...options, catalogue, baseDir: dirname(resolve(file)) },
  );
  const ended = new AbortController();
  try {
    reportStarts({ gateway: () => gateway, say: (line) => stderr.line(stderr.dim(line)), signal: ended.signal });
    await gateway.settled();
    return await use(gateway);
  } finally {
    ended.abort();
    await gateway.stop();
  }
}
