/** The definition of one metric. `labels` is complete, and has no ids of requests, sessions or callers. */
export interface MetricRow {
  readonly kind: 'counter' | 'upDownCounter' | 'histogram' | 'gauge';
  readonly unit: string;
  readonly labels: readonly string[];
  readonly means: string;
  /** Bucket boundaries of a histogram; default: the ones for durations. */
  readonly bounds?: readonly number[];
}

const REQUEST = ['method', 'status_code', 'status', 'mcp_method', 'mcp_resource_id', 'server', 'transport'] as const;
const BACKEND = [
  'target.workload_id',
  'target.workload_name',
  'target.base_url',
  'target.transport_type',
  'action',
  'mcp.method.name',
  'mcp.protocol.revision',
  'gen_ai.tool.name',
] as const;
const OPERATION = [
  'mcp.method.name',
  'gen_ai.operation.name',
  'gen_ai.tool.name',
  'gen_ai.prompt.name',
  'mcp.protocol.version',
  'error.type',
  'rpc.response.status_code',
  'network.transport',
] as const;

/**
 * Every metric of the plugin; `docs/reference/telemetry.md` is generated from this table.
 * Source: names after the prefix from the reference deployment of the contract, `mcp.*` from the OpenTelemetry
 * conventions for MCP.
 */
export const METRICS = {
  toolmgr_mcp_requests: {
    kind: 'counter',
    unit: '{request}',
    labels: REQUEST,
    means: 'HTTP requests to the MCP endpoint',
  },
  toolmgr_mcp_request_duration: {
    kind: 'histogram',
    unit: 's',
    labels: REQUEST,
    means: 'duration of HTTP requests; of a listening stream, the time until it was open',
  },
  toolmgr_mcp_active_connections: {
    kind: 'upDownCounter',
    unit: '{connection}',
    labels: ['server', 'transport'],
    means: 'open event streams',
  },
  toolmgr_bytes_in_flight: {
    kind: 'gauge',
    unit: 'By',
    labels: [],
    means: 'request bodies, results of backends and unsent responses in memory',
  },
  toolmgr_bytes_in_flight_limit: {
    kind: 'gauge',
    unit: 'By',
    labels: [],
    means: 'how many there may be: `limits.memoryBudgetBytes`, or a part of the memory limit',
  },
  toolmgr_bytes_in_flight_refused: {
    kind: 'gauge',
    unit: '{refusal}',
    labels: [],
    means: 'requests, results and streams that were refused for lack of space, since the start',
  },
  toolmgr_mcp_tool_calls: {
    kind: 'counter',
    unit: '{call}',
    labels: ['server', 'tool', 'status'],
    means: 'completed tool calls, including inner calls of composite tools and scripts',
  },
  toolmgr_mcp_calls_refused: {
    kind: 'counter',
    unit: '{call}',
    labels: ['server', 'mcp_method', 'status_code'],
    means: 'calls refused by authorization (403) or a rate limit (429)',
  },
  toolmgr_mcp_sessions_ended: {
    kind: 'counter',
    unit: '{session}',
    labels: ['server', 'reason'],
    means: 'ended client sessions (revision 2025-11-25)',
  },
  'mcp.server.session.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['network.transport'],
    means: 'duration of client sessions',
  },
  'mcp.server.operation.duration': {
    kind: 'histogram',
    unit: 's',
    labels: OPERATION,
    means: 'duration of MCP requests of clients',
  },
  'mcp.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    labels: OPERATION,
    means: 'duration of calls to backends',
  },
  toolmgr_vmcp_backends_discovered: {
    kind: 'gauge',
    unit: '{backend}',
    labels: [],
    means: 'backends known from the backend sources',
  },
  toolmgr_vmcp_backends: {
    kind: 'gauge',
    unit: '{backend}',
    labels: ['status'],
    means: 'backends by health status',
  },
  toolmgr_vmcp_held_definitions: {
    kind: 'gauge',
    unit: '{definition}',
    labels: ['target.workload_name'],
    means: 'definitions of a backend that wait until a person approves them (`toolPinning`)',
  },
  toolmgr_vmcp_kept_results: {
    kind: 'gauge',
    unit: '{result}',
    labels: [],
    means: 'results over a budget that this process keeps for their callers (`resultLimits`)',
  },
  toolmgr_vmcp_kept_result_bytes: {
    kind: 'gauge',
    unit: 'By',
    labels: [],
    means: 'bytes of these results as they are stored',
  },
  toolmgr_vmcp_backend_requests: {
    kind: 'counter',
    unit: '{call}',
    labels: BACKEND,
    means: 'calls sent to backends',
  },
  toolmgr_vmcp_backend_errors: {
    kind: 'counter',
    unit: '{call}',
    labels: BACKEND,
    means: 'failed calls to backends: no response, a JSON-RPC error, or a tool error',
  },
  toolmgr_vmcp_backend_requests_duration: {
    kind: 'histogram',
    unit: 's',
    labels: BACKEND,
    means: 'how long they took',
  },
  toolmgr_vmcp_workflow_executions: {
    kind: 'counter',
    unit: '{run}',
    labels: ['workflow.name'],
    means: 'completed runs of composite tools',
  },
  toolmgr_vmcp_workflow_errors: {
    kind: 'counter',
    unit: '{run}',
    labels: ['workflow.name'],
    means: 'runs of composite tools that failed or timed out',
  },
  toolmgr_vmcp_workflow_duration: {
    kind: 'histogram',
    unit: 's',
    labels: ['workflow.name'],
    means: 'how long they took',
  },
  toolmgr_vmcp_optimizer_find_tool_requests: {
    kind: 'counter',
    unit: '{search}',
    labels: [],
    means: 'searches with `find_tool`',
  },
  toolmgr_vmcp_optimizer_find_tool_errors: {
    kind: 'counter',
    unit: '{search}',
    labels: [],
    means: 'those that failed',
  },
  toolmgr_vmcp_optimizer_find_tool_duration: {
    kind: 'histogram',
    unit: 's',
    labels: [],
    means: 'how long they took',
  },
  toolmgr_vmcp_optimizer_find_tool_results: {
    kind: 'histogram',
    unit: '{tool}',
    labels: [],
    means: 'tools that a search returned',
    bounds: [0, 1, 2, 3, 5, 8, 10, 20, 50],
  },
  toolmgr_vmcp_optimizer_token_savings_percent: {
    kind: 'histogram',
    unit: '%',
    labels: [],
    means: 'tokens saved by a search, compared with a list of all tools',
    bounds: [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100],
  },
  toolmgr_vmcp_optimizer_call_tool_requests: {
    kind: 'counter',
    unit: '{call}',
    labels: [],
    means: 'calls with `call_tool`',
  },
  toolmgr_vmcp_optimizer_call_tool_errors: {
    kind: 'counter',
    unit: '{call}',
    labels: [],
    means: 'failed calls with `call_tool`, including tool errors, but not unknown names',
  },
  toolmgr_vmcp_optimizer_call_tool_not_found: {
    kind: 'counter',
    unit: '{call}',
    labels: [],
    means: 'calls with `call_tool` of an unknown tool',
  },
  toolmgr_vmcp_optimizer_call_tool_duration: {
    kind: 'histogram',
    unit: 's',
    labels: [],
    means: 'duration of `call_tool`, including the called tool',
  },
  toolmgr_rate_limit_fail_open: {
    kind: 'counter',
    unit: '{call}',
    labels: ['server'],
    means: 'calls allowed without a limit because the store was unavailable',
  },
  toolmgr_data_found: {
    kind: 'counter',
    unit: '{search}',
    labels: ['server', 'direction', 'detector', 'action'],
    means: 'arguments, results and messages in which a detector of `dataProtection` found something',
  },
  toolmgr_event_loop_blocked_duration: {
    kind: 'histogram',
    unit: 's',
    labels: ['server', 'plugin', 'stage'],
    means: 'times in which a plugin let nothing else run, from `limits.blockedMs` on',
    bounds: [0.1, 0.2, 0.5, 1, 2, 5, 10, 30],
  },
  toolmgr_vmcp_backend_revision_reclassifications: {
    kind: 'counter',
    unit: '{change}',
    labels: [],
    means: 'changes of a backend to another MCP revision',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Name of a metric. */
export type MetricName = keyof typeof METRICS;

/** A label of one metric. */
export type LabelOf<N extends MetricName> = (typeof METRICS)[N]['labels'][number];

/** Default bucket boundaries, in seconds. */
export const DURATION_BOUNDS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
