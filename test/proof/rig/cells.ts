import type { Era } from '@toolmgr/core';

/** Both revisions. */
export const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];

/** The four pairs of revisions. `workload` is the backend's name where one gateway serves both kinds. */
export const CELLS = ERAS.flatMap((near) =>
  ERAS.map((far) => ({ near, far, workload: far === '2025-11-25' ? 'old' : 'new' })),
);

/** Whether the long form runs: minutes instead of seconds (`npm run proof`). */
export const IS_LONG = process.env.PROOF_LONG === '1';

/** The value at a quantile, 0 to 1. */
export function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0;
}
