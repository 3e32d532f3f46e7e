import { dirname, resolve } from 'node:path';
import { createGateway, createLog } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { leftFor, planFromConfig, type SectionedConfig } from './plan.ts';

/**
 * Connects to the backends of a file once. Returns warnings about backends that did not answer, and about steps, limits,
 * filters, overrides and policies that name a tool which no backend has.
 * @throws GatewayFault CATALOG_CONFLICT when names collide, and any fault that prevents a start
 */
export async function checkAgainstBackends(read: SectionedConfig, file: string): Promise<readonly string[]> {
  const gateway = await createGateway(planFromConfig(leftFor('listing', read)), {
    catalogue,
    baseDir: dirname(resolve(file)),
    log: createLog('error', () => {}), // the result has the warnings
  });
  try {
    await gateway.settled();
    const away = gateway
      .backends()
      .filter(({ status }) => status !== 'ready')
      .map(({ backend, status, cause, needsCaller }) =>
        needsCaller
          ? `backend ${backend.name} answers callers only, with their credentials: its names were not checked`
          : `backend ${backend.name} is ${status}: ${cause?.message ?? 'no answer'}`,
      );
    return [...away, ...gateway.catalog().warnings];
  } finally {
    await gateway.stop();
  }
}
