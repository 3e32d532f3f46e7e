import type { WorkloadRecord } from '@toolmgr/plugins/kit/workloads';

/** What the operations of workloads need from the host. */
export interface WorkloadDeps {
  /** The state folder, which the commands also use. */
  readonly state: string;
  /** All workloads, sorted by name. */
  records(): Promise<readonly WorkloadRecord[]>;
}
