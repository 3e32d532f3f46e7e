import type { Attributes, Histogram, Meter, UpDownCounter } from '@opentelemetry/api';
import type {
  BackendState,
  Call,
  CallMethod,
  CallRecord,
  CatalogEntry,
  SessionEnded,
  ToolSearched,
  WorkflowAdvanced,
} from '@toolmgr/core';
import { boundedLabels, OTHER } from './bounded-labels.ts';
import type { CallEnd, RequestEnd } from './ends.ts';
import { methodName } from './method-name.ts';
import { DURATION_BOUNDS, type LabelOf, METRICS, type MetricName, type MetricRow } from './metric-table.ts';
import { createTally, type Tally } from './tally.ts';

/** What is counted and measured of one gateway. */
export interface Metrics {
  requestEnded(end: RequestEnd): void;
  streams(change: 1 | -1): void;
  callArrived(call: Call, end: CallEnd): void;
  callSettled(record: CallRecord): void;
  workflowAdvanced(advanced: WorkflowAdvanced): void;
  toolSearched(sought: ToolSearched): void;
  /** A call passed unlimited. */
  limitSkipped(): void;
  sessionEnded(ended: SessionEnded): void;
  /** A backend speaks another revision than before. */
  reclassified(): void;
}

/** Values of `error.type` and of JSON-RPC codes: backends choose theirs freely. */
const MAX_ERROR_TYPES = 64;
const TRANSPORT = 'streamable-http';

/**
 * Makes the instruments of one gateway.
 *
 * Every label comes from a list of this program, from the plan, or from the catalogue, and those that a backend or a
 * source can change are bounded. What a client writes (names of unknown tools, methods, ids) never becomes a label.
 * `known` holds the backends by name, `states` tells how they are doing.
 */
export function createMetrics(
  meter: Meter,
  server: string,
  known: ReadonlyMap<string, BackendState>,
  states: () => readonly BackendState[],
): Metrics {
  const instruments = createInstruments(meter);
  const named = boundedLabels();
  const workloads = boundedLabels();
  const errors = boundedLabels(MAX_ERROR_TYPES);
  const here = { server, transport: TRANSPORT };
  observeBackends(meter, states);

  const sent = new WeakMap<CatalogEntry, Sent>();
  /** The labels of calls to an entry, made once: a catalogue lives longer than its calls, and URLs are slow to read. */
  const sentTo = ({ target, method }: Call): Sent => {
    const backend = known.get(target.backend)?.backend;
    const before = sent.get(target);
    if (before !== undefined && before.backend === backend && before.method === method) return before;
    const name = named(target.original);
    const made: Sent = {
      backend,
      method,
      labels: {
        'target.workload_id': workloads(target.backend),
        'target.workload_name': workloads(target.backend),
        'target.base_url': workloads(baseUrl(backend?.url)),
        'target.transport_type': backend?.transport ?? '',
        action: ACTIONS[method],
        'mcp.method.name': method,
        'mcp.protocol.revision': target.era ?? '',
        'gen_ai.tool.name': target.kind === 'tool' ? name : '',
      },
      operation: {
        'mcp.method.name': method,
        ...targetLabels(target, name),
        ...(target.era === undefined ? {} : { 'mcp.protocol.version': target.era }),
        'network.transport': backend?.transport === 'stdio' ? 'pipe' : 'tcp',
      },
    };
    sent.set(target, made);
    return made;
  };

  return {
    requestEnded({ record, durationMs, errorType }) {
      if (record.face !== 'mcp') return;
      const { inbound, message, call } = record;
      const method = message?.method === undefined ? undefined : methodName(message.method);
      const mcp_resource_id = call === undefined ? '' : named(call.target.key);
      const labels: AllLabels<'toolmgr_mcp_requests'> = {
        method: HTTP_METHODS.has(inbound.method) ? inbound.method : OTHER,
        status_code: String(record.status),
        status: errorType === undefined ? 'success' : 'error',
        mcp_method: method ?? '',
        mcp_resource_id,
        ...here,
      };
      const seconds = durationMs / 1000;
      instruments.toolmgr_mcp_requests.add(labels);
      instruments.toolmgr_mcp_request_duration.record(seconds, labels);
      if (method === undefined) return;
      const operation: Labels<'mcp.server.operation.duration'> = {
        'mcp.method.name': method,
        ...(call === undefined ? {} : targetLabels(call.target, mcp_resource_id)),
        ...(record.era === undefined ? {} : { 'mcp.protocol.version': record.era }),
        ...(errorType === undefined ? {} : { 'error.type': errors(errorType) }),
        ...(record.error === undefined ? {} : { 'rpc.response.status_code': errors(String(record.error.code)) }),
        'network.transport': 'tcp',
      };
      instruments['mcp.server.operation.duration'].record(seconds, operation);
    },
    streams: (change) => instruments.toolmgr_mcp_active_connections.add(change, here),
    callArrived(call, { errorType, rpcCode, durationMs }) {
      if (call.target.run !== undefined) return; // a tool of the gateway itself is no backend
      const { labels, operation } = sentTo(call);
      const seconds = durationMs / 1000;
      instruments.toolmgr_vmcp_backend_requests.add(labels);
      instruments.toolmgr_vmcp_backend_requests_duration.record(seconds, labels);
      if (errorType === undefined) return instruments['mcp.client.operation.duration'].record(seconds, operation);
      instruments.toolmgr_vmcp_backend_errors.add(labels);
      instruments['mcp.client.operation.duration'].record(seconds, {
        ...operation,
        'error.type': errors(errorType),
        ...(rpcCode === undefined ? {} : { 'rpc.response.status_code': errors(String(rpcCode)) }),
      });
    },
    callSettled({ call, outcome, refusal }) {
      if (refusal !== undefined) {
        const labels = { server, mcp_method: call.method, status_code: String(refusal.status) };
        instruments.toolmgr_mcp_calls_refused.add(labels);
      }
      if (call.method !== 'tools/call') return;
      const labels: AllLabels<'toolmgr_mcp_tool_calls'> = {
        server,
        tool: named(call.target.key),
        status: STATUS[outcome],
      };
      instruments.toolmgr_mcp_tool_calls.add(labels);
    },
    workflowAdvanced({ change, workflowName, durationMs = 0 }) {
      const ended = WORKFLOW_ENDS[change];
      if (ended === undefined) return;
      const labels = { 'workflow.name': named(workflowName) };
      instruments.toolmgr_vmcp_workflow_executions.add(labels);
      if (ended === 'error') instruments.toolmgr_vmcp_workflow_errors.add(labels);
      instruments.toolmgr_vmcp_workflow_duration.record(durationMs / 1000, labels);
    },
    toolSearched({ way, outcome, durationMs, found, savingsPercent }) {
      const kind = SOUGHT[way];
      instruments[`${kind}_requests`].add(NO_LABELS);
      if (outcome === 'error') instruments[`${kind}_errors`].add(NO_LABELS);
      if (outcome === 'notFound') instruments.toolmgr_vmcp_optimizer_call_tool_not_found.add(NO_LABELS);
      instruments[`${kind}_duration`].record(durationMs / 1000);
      if (found !== undefined) instruments.toolmgr_vmcp_optimizer_find_tool_results.record(found);
      if (savingsPercent !== undefined) instruments.toolmgr_vmcp_optimizer_token_savings_percent.record(savingsPercent);
    },
    limitSkipped: () => instruments.toolmgr_rate_limit_fail_open.add({ server }),
    sessionEnded({ reason, durationMs }) {
      instruments.toolmgr_mcp_sessions_ended.add({ server, reason });
      instruments['mcp.server.session.duration'].record(durationMs / 1000, { 'network.transport': 'tcp' });
    },
    reclassified: () => instruments.toolmgr_vmcp_backend_revision_reclassifications.add({}),
  };
}

/** What is said of every call to one entry. */
interface Sent {
  readonly backend: BackendState['backend'] | undefined;
  readonly method: CallMethod;
  readonly labels: AllLabels<'toolmgr_vmcp_backend_requests'>;
  readonly operation: Labels<'mcp.client.operation.duration'>;
}

type AllLabels<N extends MetricName> = Record<LabelOf<N>, string>;
type Labels<N extends MetricName> = Partial<Record<LabelOf<N>, string>>;

const STATUS = {
  ok: 'success',
  toolError: 'error',
  refused: 'refused',
  error: 'error',
  fault: 'error',
  cancelled: 'cancelled',
  abandoned: 'cancelled',
} as const satisfies Record<CallRecord['outcome'], string>;

/** Changes that end a run, by how. */
const WORKFLOW_ENDS: Readonly<Partial<Record<WorkflowAdvanced['change'], 'ok' | 'error'>>> = {
  completed: 'ok',
  failed: 'error',
  timed_out: 'error',
};

const SOUGHT = {
  search: 'toolmgr_vmcp_optimizer_find_tool',
  call: 'toolmgr_vmcp_optimizer_call_tool',
} as const satisfies Record<ToolSearched['way'], string>;
const NO_LABELS = {};

const ACTIONS = {
  'tools/call': 'call_tool',
  'prompts/get': 'get_prompt',
  'resources/read': 'read_resource',
  'resources/subscribe': 'subscribe_resource',
  'completion/complete': 'complete',
} as const satisfies Record<CallMethod, string>;

const HTTP_METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PUT', 'PATCH']);

function targetLabels(target: CatalogEntry, name: string): Attributes {
  if (target.kind === 'tool') return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
  return target.kind === 'prompt' ? { 'gen_ai.prompt.name': name } : {};
}

/** A URL may hold credentials in front of its host or in its query. */
function baseUrl(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

interface Kinds<N extends MetricName> {
  readonly counter: Tally<LabelOf<N>>;
  readonly upDownCounter: UpDownCounter;
  readonly histogram: Histogram;
  readonly gauge: undefined;
}

type Instruments = { readonly [N in MetricName]: Kinds<N>[(typeof METRICS)[N]['kind']] };

function createInstruments(meter: Meter): Instruments {
  const make = {
    counter: (name: string, options: object, labels: readonly string[]) =>
      createTally(meter.createObservableCounter(name, options), labels),
    upDownCounter: (name: string, options: object) => meter.createUpDownCounter(name, options),
    histogram: (name: string, options: object, _labels: readonly string[], bounds = DURATION_BOUNDS) =>
      meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: [...bounds] } }),
    gauge: () => undefined, // observed, see below
  } as const;
  const made = Object.entries<MetricRow>(METRICS).map(([name, { kind, unit, means, labels, bounds }]) => [
    name,
    make[kind](name, { unit, description: means }, labels, bounds),
  ]);
  return Object.fromEntries(made) as Instruments;
}

/** Gauges are read when somebody looks, not kept up to date. */
function observeBackends(meter: Meter, states: () => readonly BackendState[]): void {
  const gauge = (name: MetricName) =>
    meter.createObservableGauge(name, { unit: METRICS[name].unit, description: METRICS[name].means });
  gauge('toolmgr_vmcp_backends_discovered').addCallback((seen) => seen.observe(states().length));
  gauge('toolmgr_vmcp_backends').addCallback((seen) => {
    const counts = new Map<string, number>(Object.values(HEALTH).map((status) => [status, 0]));
    for (const { status, health } of states()) {
      const said = health?.status ?? HEALTH[status];
      counts.set(said, (counts.get(said) ?? 0) + 1);
    }
    for (const [status, count] of counts) seen.observe(count, { status });
  });
}

/** The words of the status pages. */
const HEALTH = {
  ready: 'healthy',
  unavailable: 'unhealthy',
  unauthenticated: 'unauthenticated',
  unknown: 'unknown',
} as const satisfies Record<BackendState['status'], string>;
