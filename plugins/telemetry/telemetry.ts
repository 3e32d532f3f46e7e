import type { Attributes } from '@opentelemetry/api';
import type { MetricReader } from '@opentelemetry/sdk-metrics';
import type {
  BackendChanged,
  BackendState,
  Call,
  CallRecord,
  CallResult,
  Core,
  Dispatch,
  Inbound,
  LoopBlocked,
  RequestRecord,
  SessionEnded,
} from '@toolmgr/core';
import {
  type DataFound,
  heldDefinitions,
  keptResults,
  type ToolSearched,
  type WorkflowAdvanced,
} from '@toolmgr/plugins/kit/extension-points';

import { attributeNaming } from './attribute-table.ts';
import { callOutcome, requestOutcome } from './call-outcome.ts';
import type { TelemetryConfig } from './config.ts';
import { type Exporters, openExporters } from './exporters.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { observeKept } from './observe-kept.ts';
import { METRICS_PATH } from './prometheus.ts';
import { createTracing, type Tracing } from './tracing.ts';

/** The handlers for the hooks of one gateway. They do nothing before `start` and after `stop`. */
export interface Telemetry {
  start(readers: readonly MetricReader[]): Promise<void>;
  stop(): Promise<void>;
  wrapDispatch(dispatch: Dispatch): Dispatch;
  callSettled(record: CallRecord): void;
  streamOpened(record: RequestRecord): void;
  requestSettled(record: RequestRecord): void;
  workflowAdvanced(advanced: WorkflowAdvanced): void;
  toolSearched(search: ToolSearched): void;
  limitSkipped(): void;
  dataFound(found: DataFound): void;
  sessionEnded(ended: SessionEnded): void;
  loopBlocked(blocked: LoopBlocked): void;
  backendChanged(changed: BackendChanged): void;
}

/** Creates the telemetry of one gateway; `start` creates the exporters. */
export function createTelemetry(
  core: Pick<Core, 'server' | 'log' | 'now' | 'backends' | 'slot' | 'slots' | 'bytesInFlight' | 'environment'>,
  config: TelemetryConfig,
): Telemetry {
  const { now, server, log, environment } = core;
  let exporters: Exporters | undefined;
  let tracing: Tracing | undefined;
  let metrics: Metrics | undefined;
  const backends = new Map<string, BackendState>();
  /** Only unsuccessful calls, because weak entries are expensive. */
  const failed = new WeakMap<Inbound, CallRecord>();
  /** Listening streams, which were reported when they were opened. */
  const reportedStreams = new WeakSet<Inbound>();

  const reportRequest = (record: RequestRecord, durationMs: number): void => {
    const end = requestOutcome(record, failed.get(record.inbound), durationMs);
    if (record.inbound.path !== METRICS_PATH) tracing?.requestEnded(end);
    metrics?.requestEnded(end);
  };

  const dispatched = async (dispatch: Dispatch, call: Call): Promise<CallResult> => {
    const startedMs = now();
    const traced = tracing?.callStarted(call);
    let result: CallResult | undefined;
    let cause: unknown;
    try {
      result = await dispatch(traced?.call ?? call);
      return result;
    } catch (thrown) {
      cause = thrown;
      throw thrown;
    } finally {
      const end = callOutcome(call, result, cause, startedMs, now());
      if (traced !== undefined) tracing?.callEnded(traced, end, backends.get(call.target.backend)?.backend.transport);
      metrics?.callEnded(call, end);
    }
  };

  return {
    async start(readers) {
      warnOfSecrets(config, log);
      exporters = await openExporters(core, config, readers);
      const { tracer, meter } = exporters;
      const naming = attributeNaming(config.useLegacyAttributes);
      const commonAttributes = { ...environmentAttributes(config, environment), ...naming({ server: server.name }) };
      if (tracer !== undefined) tracing = createTracing({ tracer, naming, commonAttributes, now });
      if (meter !== undefined) {
        const held = core.slot(heldDefinitions);
        const heldCounts = () => new Map(held.names().flatMap((name) => [...held.get(name)()]));
        const states = () => core.backends.states();
        const counted = core.slot(keptResults);
        for (const name of counted.names()) observeKept(meter, counted.get(name));
        metrics = createMetrics(meter, server.name, backends, states, core.bytesInFlight, heldCounts);
      }
    },
    async stop() {
      tracing = undefined;
      metrics = undefined;
      await exporters?.stop();
    },
    wrapDispatch: (dispatch) => (call) => dispatched(dispatch, call),
    callSettled(record) {
      const { call } = record;
      if (record.outcome !== 'ok' && call.parent === undefined && call.inbound !== undefined) {
        failed.set(call.inbound, record);
      }
      metrics?.callSettled(record);
    },
    streamOpened(record) {
      metrics?.streams(1);
      if (!isListening(record)) return;
      reportedStreams.add(record.inbound);
      reportRequest(record, now() - record.startedMs);
    },
    requestSettled(record) {
      if (record.isStream) metrics?.streams(-1);
      if (!reportedStreams.delete(record.inbound)) reportRequest(record, record.durationMs);
    },
    workflowAdvanced: (advanced) => metrics?.workflowAdvanced(advanced),
    toolSearched: (search) => metrics?.toolSearched(search),
    limitSkipped: () => metrics?.limitSkipped(),
    dataFound: (found) => metrics?.dataFound(found),
    sessionEnded: (ended) => metrics?.sessionEnded(ended),
    loopBlocked: (blocked) => metrics?.loopBlocked(blocked),
    backendChanged({ name, change, state }) {
      const before = backends.get(name)?.era;
      if (change === 'removed' || state === undefined) backends.delete(name);
      else backends.set(name, state);
      if (before !== undefined && state?.era !== undefined && before !== state.era) metrics?.reclassified();
    },
  };
}

/** Whether a stream only listens; its duration says nothing about the gateway. */
function isListening({ message }: RequestRecord): boolean {
  return message === undefined || message.method === 'subscriptions/listen';
}

function environmentAttributes(config: TelemetryConfig, environment: NodeJS.ProcessEnv): Attributes {
  const present = config.environmentVariables.filter((name) => environment[name] !== undefined);
  return Object.fromEntries(present.map((name) => [`environment.${name}`, environment[name]]));
}

const SECRET_NAME = /password|passwd|token|secret|key|credential|private/i;

function warnOfSecrets({ environmentVariables }: TelemetryConfig, log: Core['log']): void {
  for (const name of environmentVariables.filter((each) => SECRET_NAME.test(each))) {
    log.warn(
      'telemetry.environmentVariables names a variable that looks like a secret; its value is sent with every span',
      {
        name,
      },
    );
  }
}
