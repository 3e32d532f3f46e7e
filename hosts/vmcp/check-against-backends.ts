import { createLog, type Gateway } from '@toolmgr/core';
import { leftFor, planFromConfig, type SectionedConfig } from './plan.ts';
import { withStartedBackends } from './with-started-backends.ts';

/**
 * Connects to the backends of a file once. Returns warnings about backends that did not answer, and about steps, limits,
 * filters, overrides and policies that name a tool which no backend has.
 * @throws GatewayFault CATALOG_CONFLICT when names collide, and any fault that prevents a start
 */
export function checkAgainstBackends(read: SectionedConfig, file: string): Promise<readonly string[]> {
  const log = createLog('error', () => {}); // the result has the warnings
  return withStartedBackends(planFromConfig(leftFor('listing', read)), file, { log }, warningsOf);
}

function warningsOf(gateway: Gateway): readonly string[] {
  const away = gateway
    .backends()
    .filter(({ status }) => status !== 'ready')
    .map(({ backend, status, cause, needsCaller }) => {
      if (needsCaller) return `backend ${backend.name} answers callers only, with their credentials: ${NOT_CHECKED}`;
      if (status === 'unknown') return `backend ${backend.name} did not answer in time: ${NOT_CHECKED}`;
      return `backend ${backend.name} is ${status}: ${cause?.message ?? 'no answer'}`;
    });
  return [...away, ...gateway.catalog().warnings];
}

const NOT_CHECKED = 'its names were not checked';
