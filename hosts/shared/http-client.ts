import type { PlanInput } from '@toolmgr/core';
import { UsageError } from './usage-error.ts';

const VARIABLE = 'TOOLMGR_HTTP_CLIENT';

/**
 * The part of a plan that `TOOLMGR_HTTP_CLIENT` sets: which client sends requests to HTTP backends. Empty when it is unset.
 * @throws UsageError for an unknown value
 */
export function httpClientFrom(env: Readonly<Record<string, string | undefined>>): Pick<PlanInput, 'httpClient'> {
  const value = env[VARIABLE];
  if (value === undefined || value === '') return {};
  if (value === 'own' || value === 'undici') return { httpClient: value };
  throw new UsageError(`${VARIABLE}: expected own or undici, got ${JSON.stringify(value)}`);
}
