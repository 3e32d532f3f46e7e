import { dirname, resolve } from 'node:path';
import { createGateway, createLog } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { leftFor, planFromConfig, type SectionedConfig } from './plan.ts';

/**
 * Opens the backends of a file once and says what is odd about the names that it speaks of: steps, limits, filters, overrides
 * and policies that name what no backend has, and backends that did not answer, of which nothing can be said.
 * @throws GatewayFault CATALOG_CONFLICT when names collide, and whatever stops a start
 */
export async function askBackends(read: SectionedConfig, file: string): Promise<readonly string[]> {
  const gateway = await createGateway(planFromConfig(leftFor('listing', read)), {
    catalogue,
    baseDir: dirname(resolve(file)),
    log: createLog('error', () => {}), // what counts comes back
  });
  try {
    await gateway.settled();
    const away = gateway
      .backends()
      .filter(({ status }) => status !== 'ready')
      .map(({ backend, status, cause }) => `backend ${backend.name} is ${status}: ${cause?.message ?? 'no answer'}`);
    return [...away, ...gateway.catalog().warnings];
  } finally {
    await gateway.stop();
  }
}
