import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const MIN_BREAKER_MS = 1_000;

/** `operational.failureHandling`, key by key. Source: vmcp spec §2 operational and §7 limits. */
export const healthConfig = z.strictObject({
  healthCheckInterval: goDuration.prefault('30s').describe('interval between probes of one backend'),
  healthCheckTimeout: goDuration.prefault('10s').describe('timeout of a probe; should be less than the interval'),
  unhealthyThreshold: z
    .int()
    .min(1)
    .default(3)
    .describe(
      'consecutive failures after which a backend is unhealthy: it gets no calls, and its lists are removed later',
    ),
  partialFailureMode: z
    .enum(['fail', 'best_effort'])
    .default('fail')
    .describe(
      '`fail`: a list that lacks a backend is an error that names it, and `/readyz` is 503 while a backend is unavailable; `best_effort`: lists contain the available backends',
    ),
  statusReportingInterval: goDuration.prefault('30s').describe('interval between summaries of all backends in the log'),
  circuitBreaker: z
    .strictObject({
      enabled: z.boolean().default(false).describe('stop sending calls after too many failed probes and calls'),
      failureThreshold: z.int().min(1).default(5).describe('consecutive failures that open it'),
      timeout: goDuration
        .refine((ms) => ms >= MIN_BREAKER_MS, 'expected at least 1s')
        .prefault('60s')
        .describe('time until a probe tests recovery; at least 1s'),
    })
    .prefault({})
    .describe('stops calls to a backend that keeps failing'),
});

/** The parsed configuration; durations in milliseconds. */
export type HealthConfig = z.output<typeof healthConfig>;
