import { definePlugin, STAGE } from '@toolmgr/core';
import { dataFound, limitSkipped, toolSearched, workflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import { telemetryConfig } from './config.ts';
import { createPrometheus, METRICS_PATH } from './prometheus.ts';
import { createTelemetry } from './telemetry.ts';

const ADDRESS = 'telemetry';

/** OpenTelemetry traces and metrics: OTLP over HTTP, and Prometheus on the main port. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'sends OpenTelemetry traces and metrics, and serves /metrics',
  contractKey: 'telemetry',
  config: telemetryConfig,
  apply(core, config) {
    const { hooks } = core;
    const telemetry = createTelemetry(core, config);
    const prometheus = config.enablePrometheusMetricsPath ? createPrometheus() : undefined;
    if (prometheus !== undefined) {
      hooks.mount.tap(ADDRESS, (routes) => routes.add('GET', METRICS_PATH, prometheus.answer));
    }
    if (config.tracingEnabled || config.metricsEnabled || prometheus !== undefined) {
      // innermost, to measure a single attempt
      hooks.wrapDispatch.tap({ name: ADDRESS, stage: STAGE.first }, (dispatch) => telemetry.wrapDispatch(dispatch));
      hooks.callSettled.tap(ADDRESS, (record) => telemetry.callSettled(record));
      hooks.streamOpened.tap(ADDRESS, (record) => telemetry.streamOpened(record));
      hooks.requestSettled.tap(ADDRESS, (record) => telemetry.requestSettled(record));
      core.hook(workflowAdvanced).tap(ADDRESS, (advanced) => telemetry.workflowAdvanced(advanced));
      core.hook(toolSearched).tap(ADDRESS, (search) => telemetry.toolSearched(search));
      core.hook(dataFound).tap(ADDRESS, (found) => telemetry.dataFound(found));
      core.hook(limitSkipped).tap(ADDRESS, () => telemetry.limitSkipped());
      hooks.sessionEnded.tap(ADDRESS, (ended) => telemetry.sessionEnded(ended));
      hooks.loopBlocked.tap(ADDRESS, (blocked) => telemetry.loopBlocked(blocked));
      hooks.backendChanged.tap(ADDRESS, (changed) => telemetry.backendChanged(changed));
    }
    hooks.starting.tapPromise(ADDRESS, async () =>
      telemetry.start(prometheus === undefined ? [] : [prometheus.reader]),
    );
    hooks.stopping.tapPromise(ADDRESS, async () => telemetry.stop());
  },
});
