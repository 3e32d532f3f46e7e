import type { FromFlags } from '@toolmgr/plugins/kit/workloads';
import { limitsPart } from './contract.ts';

/** Limits of calls, counted where sessions of clients are kept. */
export const fromFlags: FromFlags = {
  where: 'rate_limit_config',
  plan: ({ rate_limit_config: limits, scaling_config: scaling }, _start, use) =>
    limitsPart(limits, scaling?.session_redis && 'redis', use),
};
