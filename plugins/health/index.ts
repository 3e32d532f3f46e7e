import { definePlugin } from '@toolmgr/core';
import { healthConfig } from './config.ts';
import { Monitor } from './monitor.ts';
import { createSummaryLog } from './summary-log.ts';

const ADDRESS = 'health';

/** Probes backends, stops sending calls to unhealthy ones, and opens circuit breakers. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'probes backends, stops calls to unhealthy ones with circuit breakers, and decides on incomplete lists',
  contractKey: 'operational.failureHandling',
  config: healthConfig,
  apply(core, config) {
    const { hooks, log } = core;
    const { healthCheckInterval, healthCheckTimeout, circuitBreaker, partialFailureMode } = config;
    const monitor = new Monitor(core, config);
    const summaryLog = createSummaryLog(core, monitor, config.statusReportingInterval);
    hooks.backendChanged.tap(ADDRESS, (changed) => monitor.backendChanged(changed));
    hooks.callSettled.tap(ADDRESS, (record) => monitor.callSettled(record));
    if (circuitBreaker.enabled) {
      hooks.wrapDispatch.tap(ADDRESS, (dispatch) => (call) => {
        const refusal = monitor.refusal(call.target.backend);
        return refusal === undefined ? dispatch(call) : Promise.reject(refusal);
      });
    }
    hooks.starting.tap(ADDRESS, () => {
      if (partialFailureMode === 'fail') core.backends.requireAll();
      if (healthCheckTimeout >= healthCheckInterval) {
        log.warn('healthCheckTimeout should be less than healthCheckInterval', {
          healthCheckTimeout,
          healthCheckInterval,
        });
      }
      summaryLog.start();
    });
    hooks.stopping.tap(ADDRESS, () => {
      summaryLog.stop();
      monitor.stop();
    });
  },
});
