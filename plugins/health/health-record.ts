import type { BackendHealth, HealthStatus } from '@toolmgr/core';

/** What was seen of one backend so far. Immutable: every piece of evidence makes new vitals, or leaves them. */
export interface HealthRecord {
  readonly status: HealthStatus;
  /** In a row; 0 after a success. */
  readonly failures: number;
  /** Kind of the last failure; `undefined` after a success. */
  readonly category: string | undefined;
  /** Epoch milliseconds of the last change of `status`. */
  readonly sinceMs: number;
}

/** One failure as the transitions see it. */
export interface Failure {
  readonly category: string;
  /** The backend refused the gateway, and no outgoing auth is configured that a caller could bring. */
  readonly isAuth: boolean;
}

/** Nothing is known yet. */
export function firstHealthRecord(nowMs: number): HealthRecord {
  return { status: 'unknown', failures: 0, category: undefined, sinceMs: nowMs };
}

/** What a monitor before this one knew, as it said it. */
export function healthRecordFrom({ status, consecutiveFailures, errorCategory, sinceMs }: BackendHealth): HealthRecord {
  return { status, failures: consecutiveFailures, category: errorCategory, sinceMs };
}

/** After failures a backend is degraded once, whatever it was; then a fast answer makes it healthy, a slow one degraded. */
export function afterSuccess(record: HealthRecord, isSlow: boolean, nowMs: number): HealthRecord {
  const status = record.failures > 0 || isSlow ? 'degraded' : 'healthy';
  return entered(record, status, 0, undefined, nowMs);
}

/** Below the threshold the status stays; what has no status yet stays unknown. */
export function afterFailure(record: HealthRecord, failure: Failure, threshold: number, nowMs: number): HealthRecord {
  const failures = record.failures + 1;
  const bad = failure.isAuth ? 'unauthenticated' : 'unhealthy';
  return entered(record, failures >= threshold ? bad : record.status, failures, failure.category, nowMs);
}

/** The breaker has opened: nothing is sent any more, so the backend is unhealthy whatever the count says. */
export function afterOpening(record: HealthRecord, nowMs: number): HealthRecord {
  return entered(record, 'unhealthy', Math.max(1, record.failures), record.category, nowMs);
}

function entered(
  before: HealthRecord,
  status: HealthStatus,
  failures: number,
  category: string | undefined,
  nowMs: number,
): HealthRecord {
  return { status, failures, category, sinceMs: status === before.status ? before.sinceMs : nowMs };
}
