import type { Mutation } from './mutation.ts';

const AGGREGATION = 'plugins/aggregation/config.ts';
const AUDIT = 'plugins/audit/config.ts';
const CEDAR = 'plugins/authorization/cedar/config.ts';
const FOR_EACH = 'plugins/composite/engine/steps/for-each.ts';
const HEALTH = 'plugins/health/config.ts';
const LIMITS = 'core/limits.ts';
const OPTIMIZER = 'plugins/optimizer/tools/config.ts';
const RUN = 'hosts/workloads/fields/options.ts';
const SCRIPTS = 'plugins/code-mode/execute-script/config.ts';
const TELEMETRY = 'plugins/telemetry/config.ts';

/** Defaults of the contract: their proofs omit the field, so that another default fails them. */
export const defaults: readonly Mutation[] = [
  ['run.option.group-default', RUN, "fallback: 'default'", "fallback: 'other'"],
  [
    'run.option.host-default',
    'hosts/workloads/fields/proxy-options.ts',
    "fallback: '127.0.0.1'",
    "fallback: '127.0.0.2'",
  ],
  ['vmcp.config.session-storage-db', 'plugins/stores/redis/config.ts', '.default(0)', '.default(1)'],
  [
    'vmcp.operational.timeouts-default',
    'core/gateway/plan.ts',
    'defaultMs: z.int().min(1).default(30_000)',
    'defaultMs: z.int().min(1).default(31_000)',
  ],
  [
    'vmcp.operational.health-check-interval',
    HEALTH,
    "goDuration.prefault('30s').describe('interval between probes",
    "goDuration.prefault('31s').describe('interval between probes",
  ],
  ['vmcp.operational.health-check-timeout', HEALTH, ".prefault('10s')", ".prefault('11s')"],
  ['vmcp.operational.partial-failure-mode', HEALTH, ".default('fail')", ".default('best_effort')"],
  [
    'vmcp.operational.status-reporting-interval',
    HEALTH,
    "goDuration.prefault('30s').describe('interval between summaries",
    "goDuration.prefault('31s').describe('interval between summaries",
  ],
  ['vmcp.operational.unhealthy-threshold', HEALTH, '.default(3)', '.default(4)'],
  [
    'vmcp.operational.circuit-breaker-enabled',
    HEALTH,
    'enabled: z.boolean().default(false)',
    'enabled: z.boolean().default(true)',
  ],
  ['vmcp.operational.circuit-breaker-failure-threshold', HEALTH, '.default(5)', '.default(6)'],
  ['vmcp.operational.circuit-breaker-timeout', HEALTH, ".prefault('60s')", ".prefault('61s')"],
  ['vmcp.aggregation.conflict-resolution-default', AGGREGATION, ".default('prefix')", ".default('manual')"],
  [
    'vmcp.aggregation.prefix-format-default',
    AGGREGATION,
    "DEFAULT_PREFIX = '{workload}_'",
    "DEFAULT_PREFIX = '{workload}-'",
  ],
  ['vmcp.config-incoming.authz-entities-json', CEDAR, ".default('[]')", ".default('{}')"],
  ['vmcp.config-incoming.authz-group-entity-type', CEDAR, ".default('THVGroup')", ".default('Group')"],
  [
    'vmcp.token-exchange.subject-token-type',
    'plugins/outgoing-auth/token-exchange/config.ts',
    '.default(ACCESS_TOKEN)',
    '.default(JWT)',
  ],
  [
    'vmcp.composite.step.on-error-action',
    'plugins/composite/engine/definition-schema.ts',
    ".default('abort').describe('end the workflow",
    ".default('continue').describe('end the workflow",
  ],
  [
    'vmcp.composite.elicitation.on-decline',
    'plugins/composite/engine/steps/elicitation.ts',
    ".default('abort')",
    ".default('continue')",
  ],
  [
    'vmcp.composite.elicitation.on-cancel',
    'plugins/composite/engine/steps/elicitation.ts',
    ".default('abort')",
    ".default('continue')",
  ],
  ['vmcp.composite.for-each.item-var', FOR_EACH, ".default('item')", ".default('it')"],
  ['vmcp.composite.for-each.max-iterations', FOR_EACH, '.default(100)', '.default(101)'],
  ['vmcp.composite.for-each.max-parallel', FOR_EACH, '.default(10)', '.default(9)'],
  [
    'vmcp.audit.enabled',
    'hosts/vmcp/plan.ts',
    '{ enabled = false, ...settings } = (',
    '{ enabled = true, ...settings } = (',
  ],
  [
    'vmcp.code-mode.enabled',
    'hosts/vmcp/plan.ts',
    '{ enabled = false, ...settings } = (',
    '{ enabled = true, ...settings } = (',
  ],
  ['vmcp.audit.detect-application-errors', AUDIT, '.default(true)', '.default(false)'],
  [
    'vmcp.audit.include-request-data',
    AUDIT,
    'includeRequestData: z\n    .boolean()\n    .default(false)',
    'includeRequestData: z\n    .boolean()\n    .default(true)',
  ],
  [
    'vmcp.audit.include-response-data',
    AUDIT,
    'includeResponseData: z.boolean().default(false)',
    'includeResponseData: z.boolean().default(true)',
  ],
  ['vmcp.audit.max-data-size', AUDIT, '.default(1024)', '.default(1023)'],
  ['vmcp.audit.max-delegation-depth', AUDIT, '.default(10)', '.default(9)'],
  ['vmcp.code-mode.parallel-max-concurrency', SCRIPTS, '.default(10)\n', '.default(9)\n'],
  ['vmcp.code-mode.step-limit', SCRIPTS, '.default(100_000)', '.default(200_000)'],
  ['vmcp.code-mode.tool-call-timeout', SCRIPTS, '.default(30_000)', '.default(31_000)'],
  ['vmcp.optimizer.embedding-provider', OPTIMIZER, ".default('tei')", ".default('openai')"],
  ['vmcp.optimizer.embedding-service-timeout', OPTIMIZER, ".prefault('30s')", ".prefault('31s')"],
  ['vmcp.optimizer.semantic-ratio', OPTIMIZER, ".default('0.5')", ".default('0.6')"],
  ['vmcp.optimizer.max-tools-to-return', OPTIMIZER, '.default(8)', '.default(7)'],
  ['vmcp.optimizer.distance-threshold', OPTIMIZER, ".default('1.0')", ".default('1.1')"],
  ['vmcp.telemetry.insecure', TELEMETRY, 'insecure: z.boolean().default(false)', 'insecure: z.boolean().default(true)'],
  [
    'vmcp.telemetry.tracing-enabled',
    TELEMETRY,
    'tracingEnabled: z.boolean().default(false)',
    'tracingEnabled: z.boolean().default(true)',
  ],
  [
    'vmcp.telemetry.metrics-enabled',
    TELEMETRY,
    'metricsEnabled: z.boolean().default(false)',
    'metricsEnabled: z.boolean().default(true)',
  ],
  ['vmcp.telemetry.sampling-rate', TELEMETRY, ".default('0.05')", ".default('0.06')"],
  [
    'vmcp.telemetry.prometheus-path',
    TELEMETRY,
    'enablePrometheusMetricsPath: z.boolean().default(false)',
    'enablePrometheusMetricsPath: z.boolean().default(true)',
  ],
  ['vmcp.telemetry.legacy-attributes', TELEMETRY, '.default(true)', '.default(false)'],
  ['choice.endpoint.port-default', 'hosts/cli/vmcp/main.ts', 'portFrom, 4483)', 'portFrom, 4484)'],
  [
    'choice.backend.away-list-kept',
    LIMITS,
    'listGraceMs: z.int().min(0).default(60_000)',
    'listGraceMs: z.int().min(0).default(59_000)',
  ],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
