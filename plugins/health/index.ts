import { definePlugin } from '@toolmgr/core';
import { healthConfig } from './config.ts';
import { Monitor } from './monitor.ts';
import { createReport } from './report.ts';

const ADDRESS = 'health';

/** Probes backends, sets those aside that do not answer, and breaks the circuit to those that keep failing. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'probes backends, sets unhealthy ones aside, breaks circuits, and decides on incomplete lists',
  contractKey: 'operational.failureHandling',
  config: healthConfig,
  apply(core, config) {
    const { hooks, log } = core;
    const { healthCheckInterval, healthCheckTimeout, circuitBreaker, partialFailureMode } = config;
    const monitor = new Monitor(core, config);
    const report = createReport(core, monitor, config.statusReportingInterval);
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
      report.start();
    });
    hooks.stopping.tap(ADDRESS, () => {
      report.stop();
      monitor.stop();
    });
  },
});
