import type { BackendHealth, HealthStatus } from '@toolmgr/core';

/** What was seen of one backend so far. Immutable: every piece of evidence makes new vitals, or leaves them. */
export interface Vitals {
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
export function firstVitals(nowMs: number): Vitals {
  return { status: 'unknown', failures: 0, category: undefined, sinceMs: nowMs };
}

/** What a monitor before this one knew, as it said it. */
export function vitalsFrom({ status, consecutiveFailures, errorCategory, sinceMs }: BackendHealth): Vitals {
  return { status, failures: consecutiveFailures, category: errorCategory, sinceMs };
}

/** After failures a backend is degraded once, whatever it was; then a fast answer makes it healthy, a slow one degraded. */
export function afterSuccess(vitals: Vitals, isSlow: boolean, nowMs: number): Vitals {
  const status = vitals.failures > 0 || isSlow ? 'degraded' : 'healthy';
  return entered(vitals, status, 0, undefined, nowMs);
}

/** Below the threshold the status stays; what has no status yet stays unknown. */
export function afterFailure(vitals: Vitals, failure: Failure, threshold: number, nowMs: number): Vitals {
  const failures = vitals.failures + 1;
  const bad = failure.isAuth ? 'unauthenticated' : 'unhealthy';
  return entered(vitals, failures >= threshold ? bad : vitals.status, failures, failure.category, nowMs);
}

/** The breaker has opened: nothing is sent any more, so the backend is unhealthy whatever the count says. */
export function afterOpening(vitals: Vitals, nowMs: number): Vitals {
  return entered(vitals, 'unhealthy', Math.max(1, vitals.failures), vitals.category, nowMs);
}

function entered(
  before: Vitals,
  status: HealthStatus,
  failures: number,
  category: string | undefined,
  nowMs: number,
): Vitals {
  return { status, failures, category, sinceMs: status === before.status ? before.sinceMs : nowMs };
}
