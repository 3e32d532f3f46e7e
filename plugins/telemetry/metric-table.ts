/** What one metric is. `labels` are all it ever has; none of them is an id of a request, a session or a caller. */
export interface MetricRow {
  readonly kind: 'counter' | 'upDownCounter' | 'histogram' | 'gauge';
  readonly unit: string;
  readonly labels: readonly string[];
  readonly means: string;
  /** Of a histogram: upper ends of its buckets; those of durations unless it says so. */
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
 * Every metric of the plugin; `docs/reference/telemetry.md` is made from this table.
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
    means: 'how long they took; of a stream that is opened to listen, until it was open',
  },
  toolmgr_mcp_active_connections: {
    kind: 'upDownCounter',
    unit: '{connection}',
    labels: ['server', 'transport'],
    means: 'event streams that are open now',
  },
  toolmgr_mcp_tool_calls: {
    kind: 'counter',
    unit: '{call}',
    labels: ['server', 'tool', 'status'],
    means: 'tool calls that ended, inner calls of composite tools and scripts included',
  },
  toolmgr_mcp_calls_refused: {
    kind: 'counter',
    unit: '{call}',
    labels: ['server', 'mcp_method', 'status_code'],
    means: 'calls that a policy (403) or a rate limit (429) refused',
  },
  toolmgr_mcp_sessions_ended: {
    kind: 'counter',
    unit: '{session}',
    labels: ['server', 'reason'],
    means: 'client sessions that ended (revision 2025-11-25)',
  },
  'mcp.server.session.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['network.transport'],
    means: 'how long client sessions lived',
  },
  'mcp.server.operation.duration': {
    kind: 'histogram',
    unit: 's',
    labels: OPERATION,
    means: 'MCP requests as their client saw them',
  },
  'mcp.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    labels: OPERATION,
    means: 'calls to backends, without what the gateway did around them',
  },
  toolmgr_vmcp_backends_discovered: {
    kind: 'gauge',
    unit: '{backend}',
    labels: [],
    means: 'backends that the sources name now',
  },
  toolmgr_vmcp_backends: {
    kind: 'gauge',
    unit: '{backend}',
    labels: ['status'],
    means: 'the same by what is known of their health',
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
    means: 'those that failed: no answer, a JSON-RPC error, or a tool that reports an error',
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
    means: 'workflows of composite tools that ended',
  },
  toolmgr_vmcp_workflow_errors: {
    kind: 'counter',
    unit: '{run}',
    labels: ['workflow.name'],
    means: 'those that failed or ran out of time',
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
    means: 'searches by `find_tool`',
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
    means: 'tools that a search answered with',
    bounds: [0, 1, 2, 3, 5, 8, 10, 20, 50],
  },
  toolmgr_vmcp_optimizer_token_savings_percent: {
    kind: 'histogram',
    unit: '%',
    labels: [],
    means: 'what a search saved its caller against a list of all tools',
    bounds: [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100],
  },
  toolmgr_vmcp_optimizer_call_tool_requests: {
    kind: 'counter',
    unit: '{call}',
    labels: [],
    means: 'calls by `call_tool`',
  },
  toolmgr_vmcp_optimizer_call_tool_errors: {
    kind: 'counter',
    unit: '{call}',
    labels: [],
    means: 'those that failed, or whose tool reported an error; not those of an unknown name',
  },
  toolmgr_vmcp_optimizer_call_tool_not_found: {
    kind: 'counter',
    unit: '{call}',
    labels: [],
    means: 'those of a name that the caller has no tool of',
  },
  toolmgr_vmcp_optimizer_call_tool_duration: {
    kind: 'histogram',
    unit: 's',
    labels: [],
    means: 'how long they took, the called tool included',
  },
  toolmgr_rate_limit_fail_open: {
    kind: 'counter',
    unit: '{call}',
    labels: ['server'],
    means: 'calls that passed unlimited because the store of the limits was away',
  },
  toolmgr_vmcp_backend_revision_reclassifications: {
    kind: 'counter',
    unit: '{change}',
    labels: [],
    means: 'backends that turned out to speak another revision than before',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Name of a metric. */
export type MetricName = keyof typeof METRICS;

/** A label of one metric. */
export type LabelOf<N extends MetricName> = (typeof METRICS)[N]['labels'][number];

/** Upper ends of the buckets of every histogram, in seconds. */
export const DURATION_BOUNDS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
