import type { Attributes, Histogram, Meter, UpDownCounter } from '@opentelemetry/api';
import type { BackendState, Call, CallRecord, CatalogEntry, Core, LoopBlocked, SessionEnded } from '@toolmgr/core';
import type { DataFound, ToolSearched, WorkflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import { boundedLabels, OTHER } from './bounded-labels.ts';
import type { CallOutcome, RequestOutcome } from './call-outcome.ts';
import { createLabelledCounter, type LabelledCounter } from './labelled-counter.ts';
import { methodName } from './method-name.ts';
import { DURATION_BOUNDS, type LabelOf, METRICS, type MetricName, type MetricRow } from './metric-table.ts';

/** The metrics of one gateway. */
export interface Metrics {
  requestEnded(end: RequestOutcome): void;
  streams(change: 1 | -1): void;
  callEnded(call: Call, end: CallOutcome): void;
  callSettled(record: CallRecord): void;
  workflowAdvanced(advanced: WorkflowAdvanced): void;
  toolSearched(search: ToolSearched): void;
  /** A call was allowed because its rate limit could not be checked. */
  limitSkipped(): void;
  dataFound(found: DataFound): void;
  sessionEnded(ended: SessionEnded): void;
  loopBlocked(blocked: LoopBlocked): void;
  /** A backend changed its MCP revision. */
  reclassified(): void;
}

/** Maximum values of `error.type` and of JSON-RPC codes, which backends choose freely. */
const MAX_ERROR_TYPES = 64;
const TRANSPORT = 'streamable-http';

/**
 * Creates the instruments of one gateway.
 *
 * Every label comes from a fixed list, the plan or the catalogue; labels that a backend or a source can change are bounded.
 * Client data (names of unknown tools, methods, ids) never becomes a label. `known` has the backends by name, `states`
 * returns their states.
 */
export function createMetrics(
  meter: Meter,
  server: string,
  known: ReadonlyMap<string, BackendState>,
  states: () => readonly BackendState[],
  bytes: () => ReturnType<Core['bytesInFlight']>,
  held: () => ReadonlyMap<string, number>,
): Metrics {
  const instruments = createInstruments(meter);
  const nameLabel = boundedLabels();
  const backendLabel = boundedLabels();
  const errorLabel = boundedLabels(MAX_ERROR_TYPES);
  const serverLabels = { server, transport: TRANSPORT };
  observeStates(meter, states, bytes);
  observeHeld(meter, held, backendLabel);

  const labelsByEntry = new WeakMap<CatalogEntry, EntryLabels>();
  /** The labels of calls to an entry, cached, because parsing URLs is slow. */
  const labelsFor = ({ target, method }: Call): EntryLabels => {
    const backend = known.get(target.backend)?.backend;
    const before = labelsByEntry.get(target);
    if (before !== undefined && before.backend === backend && before.method === method) return before;
    const name = nameLabel(target.original);
    const made: EntryLabels = {
      backend,
      method,
      labels: {
        'target.workload_id': backendLabel(target.backend),
        'target.workload_name': backendLabel(target.backend),
        'target.base_url': backendLabel(baseUrl(backend?.url)),
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
    labelsByEntry.set(target, made);
    return made;
  };

  return {
    requestEnded({ record, durationMs, errorType }) {
      if (record.servedBy !== 'mcp') return;
      const { inbound, message, call } = record;
      const method = message?.method === undefined ? undefined : methodName(message.method);
      const mcp_resource_id = call === undefined ? '' : nameLabel(call.target.key);
      const labels: AllLabels<'toolmgr_mcp_requests'> = {
        method: HTTP_METHODS.has(inbound.method) ? inbound.method : OTHER,
        status_code: String(record.status),
        status: errorType === undefined ? 'success' : 'error',
        mcp_method: method ?? '',
        mcp_resource_id,
        ...serverLabels,
      };
      const seconds = durationMs / 1000;
      instruments.toolmgr_mcp_requests.add(labels);
      instruments.toolmgr_mcp_request_duration.record(seconds, labels);
      if (method === undefined) return;
      const operation: Labels<'mcp.server.operation.duration'> = {
        'mcp.method.name': method,
        ...(call === undefined ? {} : targetLabels(call.target, mcp_resource_id)),
        ...(record.era === undefined ? {} : { 'mcp.protocol.version': record.era }),
        ...(errorType === undefined ? {} : { 'error.type': errorLabel(errorType) }),
        ...(record.error === undefined ? {} : { 'rpc.response.status_code': errorLabel(String(record.error.code)) }),
        'network.transport': 'tcp',
      };
      instruments['mcp.server.operation.duration'].record(seconds, operation);
    },
    streams: (change) => instruments.toolmgr_mcp_active_connections.add(change, serverLabels),
    callEnded(call, { errorType, rpcCode, durationMs }) {
      if (call.target.run !== undefined) return; // a tool of the gateway itself has no backend
      const { labels, operation } = labelsFor(call);
      const seconds = durationMs / 1000;
      instruments.toolmgr_vmcp_backend_requests.add(labels);
      instruments.toolmgr_vmcp_backend_requests_duration.record(seconds, labels);
      if (errorType === undefined) return instruments['mcp.client.operation.duration'].record(seconds, operation);
      instruments.toolmgr_vmcp_backend_errors.add(labels);
      instruments['mcp.client.operation.duration'].record(seconds, {
        ...operation,
        'error.type': errorLabel(errorType),
        ...(rpcCode === undefined ? {} : { 'rpc.response.status_code': errorLabel(String(rpcCode)) }),
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
        tool: nameLabel(call.target.key),
        status: STATUS[outcome],
      };
      instruments.toolmgr_mcp_tool_calls.add(labels);
    },
    workflowAdvanced({ change, workflowName, durationMs = 0 }) {
      const ended = WORKFLOW_ENDS[change];
      if (ended === undefined) return;
      const labels = { 'workflow.name': nameLabel(workflowName) };
      instruments.toolmgr_vmcp_workflow_executions.add(labels);
      if (ended === 'error') instruments.toolmgr_vmcp_workflow_errors.add(labels);
      instruments.toolmgr_vmcp_workflow_duration.record(durationMs / 1000, labels);
    },
    toolSearched({ way, outcome, durationMs, found, savingsPercent }) {
      const kind = SEARCH_METRICS[way];
      instruments[`${kind}_requests`].add(NO_LABELS);
      if (outcome === 'error') instruments[`${kind}_errors`].add(NO_LABELS);
      if (outcome === 'notFound') instruments.toolmgr_vmcp_optimizer_call_tool_not_found.add(NO_LABELS);
      instruments[`${kind}_duration`].record(durationMs / 1000);
      if (found !== undefined) instruments.toolmgr_vmcp_optimizer_find_tool_results.record(found);
      if (savingsPercent !== undefined) instruments.toolmgr_vmcp_optimizer_token_savings_percent.record(savingsPercent);
    },
    limitSkipped: () => instruments.toolmgr_rate_limit_fail_open.add({ server }),
    dataFound: ({ direction, detector, action }) =>
      instruments.toolmgr_data_found.add({ server, direction, detector, action }),
    sessionEnded({ reason, durationMs }) {
      instruments.toolmgr_mcp_sessions_ended.add({ server, reason });
      instruments['mcp.server.session.duration'].record(durationMs / 1000, { 'network.transport': 'tcp' });
    },
    loopBlocked({ plugin = '', stage, ms }) {
      instruments.toolmgr_event_loop_blocked_duration.record(ms / 1000, { server, plugin, stage });
    },
    reclassified: () => instruments.toolmgr_vmcp_backend_revision_reclassifications.add({}),
  };
}

/** The labels of all calls to one entry. */
interface EntryLabels {
  readonly backend: BackendState['backend'] | undefined;
  readonly method: Call['method'];
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

/** Changes that end a workflow, with their outcome. */
const WORKFLOW_ENDS: Readonly<Partial<Record<WorkflowAdvanced['change'], 'ok' | 'error'>>> = {
  completed: 'ok',
  failed: 'error',
  timed_out: 'error',
};

const SEARCH_METRICS = {
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
} as const satisfies Record<Call['method'], string>;

const HTTP_METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PUT', 'PATCH']);

function targetLabels(target: CatalogEntry, name: string): Attributes {
  if (target.kind === 'tool') return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
  return target.kind === 'prompt' ? { 'gen_ai.prompt.name': name } : {};
}

/** Without credentials and query. */
function baseUrl(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

interface Kinds<N extends MetricName> {
  readonly counter: LabelledCounter<LabelOf<N>>;
  readonly upDownCounter: UpDownCounter;
  readonly histogram: Histogram;
  readonly gauge: undefined;
}

type Instruments = { readonly [N in MetricName]: Kinds<N>[(typeof METRICS)[N]['kind']] };

function createInstruments(meter: Meter): Instruments {
  const make = {
    counter: (name: string, options: object, labels: readonly string[]) =>
      createLabelledCounter(meter.createObservableCounter(name, options), labels),
    upDownCounter: (name: string, options: object) => meter.createUpDownCounter(name, options),
    histogram: (name: string, options: object, _labels: readonly string[], bounds = DURATION_BOUNDS) =>
      meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: [...bounds] } }),
    gauge: () => undefined, // see observeStates
  } as const;
  const made = Object.entries<MetricRow>(METRICS).map(([name, { kind, unit, means, labels, bounds }]) => [
    name,
    make[kind](name, { unit, description: means }, labels, bounds),
  ]);
  return Object.fromEntries(made) as Instruments;
}

/** Gauges are computed when they are read. */
function observeStates(
  meter: Meter,
  states: () => readonly BackendState[],
  bytes: () => ReturnType<Core['bytesInFlight']>,
): void {
  const gauge = (name: MetricName) =>
    meter.createObservableGauge(name, { unit: METRICS[name].unit, description: METRICS[name].means });
  gauge('toolmgr_bytes_in_flight').addCallback((seen) => seen.observe(bytes().held));
  gauge('toolmgr_bytes_in_flight_limit').addCallback((seen) => seen.observe(bytes().most));
  gauge('toolmgr_bytes_in_flight_refused').addCallback((seen) => seen.observe(bytes().refused));
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

function observeHeld(meter: Meter, held: () => ReadonlyMap<string, number>, label: (name: string) => string): void {
  const { unit, means } = METRICS.toolmgr_vmcp_held_definitions;
  const gauge = meter.createObservableGauge('toolmgr_vmcp_held_definitions', { unit, description: means });
  gauge.addCallback((seen) => {
    for (const [backend, count] of held()) seen.observe(count, { 'target.workload_name': label(backend) });
  });
}

/** Health values, the same as on the status pages. */
const HEALTH = {
  ready: 'healthy',
  unavailable: 'unhealthy',
  unauthenticated: 'unauthenticated',
  unknown: 'unknown',
} as const satisfies Record<BackendState['status'], string>;
