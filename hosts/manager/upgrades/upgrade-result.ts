import type { Drift } from './drift.ts';
import type { ToolDrift } from './tool-drift.ts';

/** Source: reference workload-api §4.3. */
export const UPGRADE_STATUSES = [
  'up-to-date',
  'upgrade-available',
  'not-registry-sourced',
  'server-not-found',
  'unknown',
] as const;

/** Whether a newer image or release of a workload is in its registry. Source: HTTP API spec §2 "Workload upgrade check result". */
export interface UpgradeCheck extends Drift {
  readonly workload_name: string;
  readonly status: (typeof UPGRADE_STATUSES)[number];
  readonly current_image?: string;
  readonly candidate_image?: string;
  readonly registry_server?: string;
  /** Only in the answer to an upgrade, of a workload that ran before. */
  readonly tools_drift?: ToolDrift;
  /** Why the status is what it is. */
  readonly reason?: string;
}
