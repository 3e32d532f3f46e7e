import type { BackendHealth } from '@toolmgr/core';

/** The health of one backend. Immutable: every signal creates a new record. */
export interface HealthRecord {
  readonly status: BackendHealth['status'];
  /** Consecutive failures; 0 after a success. */
  readonly failures: number;
  /** Kind of the last failure; `undefined` after a success. */
  readonly category: string | undefined;
  /** Epoch milliseconds of the last change of `status`. */
  readonly sinceMs: number;
}

/** One failure. */
export interface Failure {
  readonly category: string;
  /** Whether the backend refused the gateway, and no outgoing auth is configured. */
  readonly isAuth: boolean;
}

/** The record before the first signal. */
export function firstHealthRecord(nowMs: number): HealthRecord {
  return { status: 'unknown', failures: 0, category: undefined, sinceMs: nowMs };
}

/** The record from the published health of an earlier monitor. */
export function healthRecordFrom({ status, consecutiveFailures, errorCategory, sinceMs }: BackendHealth): HealthRecord {
  return { status, failures: consecutiveFailures, category: errorCategory, sinceMs };
}

/** The first success after failures makes a backend degraded; later a fast response makes it healthy, a slow one degraded. */
export function afterSuccess(record: HealthRecord, isSlow: boolean, nowMs: number): HealthRecord {
  const status = record.failures > 0 || isSlow ? 'degraded' : 'healthy';
  return recordWith(record, status, 0, undefined, nowMs);
}

/** Below the threshold the status does not change. */
export function afterFailure(record: HealthRecord, failure: Failure, threshold: number, nowMs: number): HealthRecord {
  const failures = record.failures + 1;
  const bad = failure.isAuth ? 'unauthenticated' : 'unhealthy';
  return recordWith(record, failures >= threshold ? bad : record.status, failures, failure.category, nowMs);
}

/** A failed call counts, and leaves the status to the probe that follows it: it may have failed because of what was called. */
export function afterFailedCall(record: HealthRecord, { category }: Failure): HealthRecord {
  return { ...record, failures: record.failures + 1, category };
}

/** When the breaker opens, the backend is unhealthy with any number of failures. */
export function afterOpening(record: HealthRecord, nowMs: number): HealthRecord {
  return recordWith(record, 'unhealthy', Math.max(1, record.failures), record.category, nowMs);
}

function recordWith(
  before: HealthRecord,
  status: BackendHealth['status'],
  failures: number,
  category: string | undefined,
  nowMs: number,
): HealthRecord {
  return { status, failures, category, sinceMs: status === before.status ? before.sinceMs : nowMs };
}
