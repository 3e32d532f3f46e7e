import type { Operation } from '@toolmgr/plugins/kit/operations';

/** Time limits of operations by class (reference workload-api §1.3). */
export const TIME_LIMITS_MS: Readonly<Record<NonNullable<Operation['timeLimit']>, number | undefined>> = {
  standard: 60_000,
  long: 660_000,
  stream: undefined,
};

/** Limits of the HTTP listener (reference workload-api §3.3). */
export const HTTP_LIMITS = {
  bodyBytes: 1_048_576,
  urlBytes: 8_192,
  /** One path parameter, decoded. */
  parameterLength: 2_048,
  headerBytes: 16_384,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  idleTimeoutMs: 120_000,
  connections: 4_096,
  streamsPerOperation: 256,
  stopMs: 30_000,
} as const;
