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
  RequestRecord,
  SessionEnded,
  ToolSearched,
  WorkflowAdvanced,
} from '@toolmgr/core';
import { attributeNaming } from './attribute-table.ts';
import type { TelemetryConfig } from './config.ts';
import { callEnd, requestEnd } from './ends.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { openPipeline, type Pipeline } from './pipeline.ts';
import { METRICS_PATH } from './prometheus.ts';
import { createTracing, type Tracing } from './tracing.ts';

/** What the hooks of one gateway tell its telemetry. Before `start` and after `stop` nothing is kept. */
export interface Telemetry {
  start(readers: readonly MetricReader[]): Promise<void>;
  stop(): Promise<void>;
  around(dispatch: Dispatch): Dispatch;
  callSettled(record: CallRecord): void;
  streamOpened(record: RequestRecord): void;
  requestSettled(record: RequestRecord): void;
  workflowAdvanced(advanced: WorkflowAdvanced): void;
  toolSearched(sought: ToolSearched): void;
  limitSkipped(): void;
  sessionEnded(ended: SessionEnded): void;
  backendChanged(changed: BackendChanged): void;
}

/** Makes the telemetry of one gateway; pipelines are opened by `start`. */
export function createTelemetry(
  core: Pick<Core, 'server' | 'log' | 'now' | 'backends'>,
  config: TelemetryConfig,
  environment: NodeJS.ProcessEnv = process.env,
): Telemetry {
  const { now, server, log } = core;
  let pipeline: Pipeline | undefined;
  let tracing: Tracing | undefined;
  let metrics: Metrics | undefined;
  const backends = new Map<string, BackendState>();
  /** Calls that did not go well; most do, and weak entries cost more than they look. */
  const failed = new WeakMap<Inbound, CallRecord>();
  /** Streams that only listen were told of when they were opened. */
  const told = new WeakSet<Inbound>();

  const tell = (record: RequestRecord, durationMs: number): void => {
    const end = requestEnd(record, failed.get(record.inbound), durationMs);
    if (record.inbound.path !== METRICS_PATH) tracing?.requestEnded(end);
    metrics?.requestEnded(end);
  };

  const dispatched = async (dispatch: Dispatch, call: Call): Promise<CallResult> => {
    const startedMs = now();
    const leg = tracing?.leaves(call);
    let result: CallResult | undefined;
    let cause: unknown;
    try {
      result = await dispatch(leg?.call ?? call);
      return result;
    } catch (thrown) {
      cause = thrown;
      throw thrown;
    } finally {
      const end = callEnd(call, result, cause, startedMs, now());
      if (leg !== undefined) tracing?.arrived(leg, end, backends.get(call.target.backend)?.backend.transport);
      metrics?.callArrived(call, end);
    }
  };

  return {
    async start(readers) {
      warnOfSecrets(config, log);
      pipeline = await openPipeline(core, config, readers);
      const { tracer, meter } = pipeline;
      const naming = attributeNaming(config.useLegacyAttributes);
      const everywhere = { ...environmentAttributes(config, environment), ...naming({ server: server.name }) };
      if (tracer !== undefined) tracing = createTracing({ tracer, naming, everywhere, now });
      if (meter !== undefined) metrics = createMetrics(meter, server.name, backends, () => core.backends.states());
    },
    async stop() {
      tracing = undefined;
      metrics = undefined;
      await pipeline?.stop();
    },
    around: (dispatch) => (call) => dispatched(dispatch, call),
    callSettled(record) {
      const { call } = record;
      if (record.outcome !== 'ok' && call.parent === undefined && call.inbound !== undefined) {
        failed.set(call.inbound, record);
      }
      metrics?.callSettled(record);
    },
    streamOpened(record) {
      metrics?.streams(1);
      if (!listens(record)) return;
      told.add(record.inbound);
      tell(record, now() - record.startedMs);
    },
    requestSettled(record) {
      if (record.isStream) metrics?.streams(-1);
      if (!told.delete(record.inbound)) tell(record, record.durationMs);
    },
    workflowAdvanced: (advanced) => metrics?.workflowAdvanced(advanced),
    toolSearched: (sought) => metrics?.toolSearched(sought),
    limitSkipped: () => metrics?.limitSkipped(),
    sessionEnded: (ended) => metrics?.sessionEnded(ended),
    backendChanged({ name, change, state }) {
      const before = backends.get(name)?.era;
      if (change === 'removed' || state === undefined) backends.delete(name);
      else backends.set(name, state);
      if (before !== undefined && state?.era !== undefined && before !== state.era) metrics?.reclassified();
    },
  };
}

/** A stream that waits for what may come, for hours: its length says nothing about the gateway. */
function listens({ message }: RequestRecord): boolean {
  return message === undefined || message.method === 'subscriptions/listen';
}

function environmentAttributes(config: TelemetryConfig, environment: NodeJS.ProcessEnv): Attributes {
  const present = config.environmentVariables.filter((name) => environment[name] !== undefined);
  return Object.fromEntries(present.map((name) => [`environment.${name}`, environment[name]]));
}

const SECRET_NAME = /password|passwd|token|secret|key|credential|private/i;

function warnOfSecrets({ environmentVariables }: TelemetryConfig, log: Core['log']): void {
  for (const name of environmentVariables.filter((each) => SECRET_NAME.test(each))) {
    log.warn('telemetry.environmentVariables names what looks like a secret: its value goes out with every span', {
      name,
    });
  }
}
