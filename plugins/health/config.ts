import { z } from 'zod';
import { goDuration } from '../shared/go-duration.ts';

const MIN_BREAKER_MS = 1_000;

/** `operational.failureHandling`, key by key. Source: vmcp spec §2 operational and §7 limits. */
export const healthConfig = z.strictObject({
  healthCheckInterval: goDuration.prefault('30s').describe('between two probes of one backend'),
  healthCheckTimeout: goDuration
    .prefault('10s')
    .describe('a probe without an answer for this long has failed; should be less than the interval'),
  unhealthyThreshold: z
    .int()
    .min(1)
    .default(3)
    .describe('failures in a row after which a backend is unhealthy: it gets no call, its lists leave in time'),
  partialFailureMode: z
    .enum(['fail', 'best_effort'])
    .default('fail')
    .describe(
      '`fail`: a list that lacks a backend is an error that names it, and `/readyz` is 503 while one is away; `best_effort`: what is there is served',
    ),
  statusReportingInterval: goDuration.prefault('30s').describe('between two summaries of all backends in the log'),
  circuitBreaker: z
    .strictObject({
      enabled: z.boolean().default(false).describe('count failed probes and calls, and stop sending after too many'),
      failureThreshold: z.int().min(1).default(5).describe('failures in a row that open it'),
      timeout: goDuration
        .refine((ms) => ms >= MIN_BREAKER_MS, 'expected at least 1s')
        .prefault('60s')
        .describe('how long it stays open until one probe tests recovery; at least 1s'),
    })
    .prefault({})
    .describe('stops calls to a backend that keeps failing'),
});

/** What the plugin was told; durations in milliseconds. */
export type HealthConfig = z.output<typeof healthConfig>;
