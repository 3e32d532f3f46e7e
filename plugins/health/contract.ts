import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { durationMs } from '@toolmgr/plugins/kit/settings';

/** The members of the section that are read here. */
interface FailureHandling {
  readonly healthCheckInterval?: string;
  readonly healthCheckTimeout?: string;
}

/** `operational.failureHandling`. Without it backends are not watched; lists are complete or errors either way. Source: vmcp spec §2. */
export const contract: ClusterReader = {
  /** Warns of a timeout that is not less than the interval. Source: vmcp spec §2 operational, "should be less than the interval". */
  warnings({ healthCheckInterval: interval = '30s', healthCheckTimeout: timeout = '10s' }: FailureHandling) {
    if ((durationMs(timeout) ?? 0) < (durationMs(interval) ?? 0)) return [];
    const message = `${timeout} should be less than healthCheckInterval (${interval}): a probe may last until the next is due`;
    return [{ path: ['healthCheckTimeout'], message }];
  },
  fromCluster: () => import('./from-cluster.ts'),
};
