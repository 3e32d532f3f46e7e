import type { Mutation } from './mutation.ts';

const ASK = 'plugins/composite/engine/elicit.ts';
const ATTEMPTS = 'plugins/composite/engine/attempts.ts';
const BREAKER = 'plugins/health/breaker.ts';
const CAPTURE = 'plugins/audit/capture.ts';
const ELICITATION = 'plugins/composite/engine/steps/elicitation.ts';
const EVENT_TYPES = 'plugins/audit/event-types.ts';
const FOR_EACH = 'plugins/composite/engine/steps/for-each.ts';
const FROM_CALL = 'plugins/audit/event-from-call.ts';
const INNER_CALL = 'plugins/code-mode/execute-script/inner-call.ts';
const JOURNAL = 'plugins/audit/journal.ts';
const MASKED = 'plugins/telemetry/masked-arguments.ts';
const MONITOR = 'plugins/health/monitor.ts';
const OUTPUT = 'plugins/composite/engine/output.ts';
const POOL = 'plugins/code-mode/quickjs/thread-pool.ts';
const REDACT = 'plugins/kit/secrets/redact.ts';
const RUN_STEP = 'plugins/composite/engine/run-step.ts';
const RUN_TOOL = 'plugins/code-mode/execute-script/run-tool.ts';
const SCRIPT = 'plugins/code-mode/quickjs/run-script.ts';
const SINK = 'plugins/audit/sinks/file.ts';
const STEP_LIMITS = 'plugins/composite/engine/limits.ts';
const VITALS = 'plugins/health/health-record.ts';
const WAITING = 'plugins/composite/engine/suspended-workflows.ts';

/** Behaviour of composite tools, scripts, audit, health and telemetry. */
export const featureBehaviours: readonly Mutation[] = [
  ['choice.composite.retry', ATTEMPTS, 'backOffMs(retry + 1,', 'backOffMs(retry + 2,'],
  ['choice.composite.retry', STEP_LIMITS, 'MAX_RETRIES = 10;', 'MAX_RETRIES = 11;'],
  ['vmcp.composite.step.timeout', ATTEMPTS, 'timeoutMs: timeout ?? STEP_TIMEOUT_MS', 'timeoutMs: STEP_TIMEOUT_MS'],
  ['vmcp.composite.timeout', 'plugins/composite/engine/run-workflow.ts', 'workflow.timeoutMs - (', '1_800_000 - ('],
  [
    'vmcp.composite.step.condition',
    RUN_STEP,
    'if (step.condition?.holds(data) === false) {',
    'if (data === undefined) {',
  ],
  [
    'vmcp.composite.step.default-results',
    RUN_STEP,
    "action === 'continue' && defaults !== undefined ?",
    "action === 'abort' ?",
  ],
  [
    'vmcp.composite.step.default-results',
    RUN_STEP,
    "'skipped', output: step.defaults ?? {} }",
    "'skipped', output: {} }",
  ],
  ['vmcp.composite.step.on-error-action', RUN_STEP, "if (step.policy.action !== 'continue') throw failure;", ''],
  [
    'choice.composite.skip-remaining',
    ELICITATION,
    '{ action, skipped: true }, skipsRest: true }',
    '{ action, skipped: true } }',
  ],
  [
    'vmcp.composite.elicitation.on-decline',
    ELICITATION,
    "action === 'decline' ? actions.decline : actions.cancel",
    'actions.cancel',
  ],
  ['choice.composite.question-time', ASK, 'if (nowMs > untilMs)', 'if (nowMs < 0)'],
  ['choice.composite.question-time', STEP_LIMITS, 'MAX_QUESTION_MS = 600_000;', 'MAX_QUESTION_MS = 601_000;'],
  ['choice.composite.answers-checked', ASK, 'if (problem !== undefined) throw', 'if (problem === null) throw'],
  ['choice.composite.answers-checked', ASK, 'if (raw.length > MAX_ANSWER_BYTES)', 'if (raw.length < 0)'],
  [
    'choice.composite.answers-checked',
    ASK,
    'if (depthOf(content, MAX_DEPTH) > MAX_DEPTH)',
    'if (content === undefined)',
  ],
  ['choice.composite.cannot-be-asked', ASK, '  requireForms(call, step);\n', ''],
  [
    'choice.composite.suspended',
    WAITING,
    'const found = suspended.get(id);\n      drop(found);',
    'const found = suspended.get(id);',
  ],
  ['choice.composite.any-replica', WAITING, 'if (wait > 0) return undefined;', ''],
  [
    'choice.composite.bounded',
    'plugins/composite/engine/answer-call.ts',
    'if (state.bytes > MAX_STATE_BYTES) {',
    'if (state.bytes < 0) {',
  ],
  ['vmcp.composite.output-default', OUTPUT, 'if (fallback !== undefined) return fallback;', ''],
  [
    'vmcp.composite.output-required',
    OUTPUT,
    'if (!Object.hasOwn(properties, name)) problems.add',
    'if (name === undefined) problems.add',
  ],
  [
    'vmcp.composite.for-each.max-iterations',
    FOR_EACH,
    'if (items.length > maxIterations) {',
    'if (items.length < 0) {',
  ],
  ['vmcp.composite.for-each.max-iterations-cap', STEP_LIMITS, 'MAX_ITERATIONS = 1000;', 'MAX_ITERATIONS = 1001;'],
  [
    'vmcp.composite.for-each.max-parallel',
    FOR_EACH,
    'runParallel(items, loop.maxParallel,',
    'runParallel(items, items.length,',
  ],
  ['choice.composite.parallel-without-depends', STEP_LIMITS, 'MAX_PARALLEL_STEPS = 10;', 'MAX_PARALLEL_STEPS = 11;'],
  [
    'vmcp.code-mode.parallel-max-concurrency-caps',
    SCRIPT,
    'const waits = this.#inFlight >= limits.concurrency;',
    'const waits = false;',
  ],
  ['choice.code-mode.logs', RUN_TOOL, 'hint}`), ...logs]', 'hint}`)]'],
  ['choice.code-mode.cancelled', INNER_CALL, '      cancel.abort(signal.reason);\n', ''],
  ['vmcp.code-mode.tool-call-timeout-raises', INNER_CALL, "      cancel.abort(new Error('toolCallTimeout'));\n", ''],
  ['vmcp.code-mode.tool-call-timeout-raises', INNER_CALL, "name: 'TimeoutError'", "name: 'ToolError'"],
  ['choice.code-mode.wall-clock', RUN_TOOL, 'wallClockMs: config.scriptTimeout', 'wallClockMs: 600_000'],
  ['vmcp.code-mode.step-limit', RUN_TOOL, 'steps: config.stepLimit', 'steps: 100_000_000'],
  ['choice.code-mode.memory-limit', RUN_TOOL, 'memoryBytes: config.memoryBytes', 'memoryBytes: 1_073_741_824'],
  ['choice.code-mode.queue', POOL, 'longest.at(-1)?.refuse', 'this.#queue.at(-1)?.refuse'],
  ['choice.code-mode.cpu-budget', POOL, 'if (waitMs > 0)', 'if (waitMs < 0)'],
  ['choice.code-mode.cpu-budget', 'plugins/code-mode/quickjs/cpu-budget.ts', 'return ms >= limitMs;', 'return false;'],
  ['choice.code-mode.arguments', RUN_TOOL, 'if (other !== undefined) return', 'if (other === "") return'],
  ['choice.code-mode.failures', INNER_CALL, 'result.isError ? failed(', 'result.bytes.length < 0 ? failed('],
  ['choice.audit.secrets', REDACT, 'secret|key|auth|credential|private|cookie/;', 'secret|key|auth|private|cookie/;'],
  ['choice.audit.secrets', REDACT, "found.includes('.') ? REDACTED : found", 'found'],
  ['choice.audit.secrets', CAPTURE, "['_meta', 'inputResponses', 'requestState']", "['_meta']"],
  ['choice.audit.every-type', EVENT_TYPES, "  ['ping', 'mcp_ping'],\n", ''],
  ['vmcp.audit.event-types', EVENT_TYPES, '(only.length === 0 ? EVENT_TYPES : only)', 'EVENT_TYPES'],
  ['vmcp.audit.exclude-event-types', EVENT_TYPES, '.filter((type) => !never.includes(type))', ''],
  ['choice.audit.type-not-chosen', EVENT_TYPES, "if (caller === undefined) return 'mcp_request';", ''],
  ['choice.audit.denials', FROM_CALL, "refused: 'denied'", "refused: 'failure'"],
  [
    'vmcp.audit.detect-application-errors',
    FROM_CALL,
    "return detectApplicationErrors ? 'application_error' : 'success';",
    "return 'application_error';",
  ],
  [
    'choice.audit.client-address',
    FROM_CALL,
    'record?.remoteAddress ?? inbound.remoteAddress',
    "headers['x-forwarded-for'] ?? inbound.remoteAddress",
  ],
  ['choice.audit.one-id', FROM_CALL, 'requestId: call.id,', 'requestId: String(Math.random()),'],
  [
    'choice.audit.overload',
    JOURNAL,
    'if (waiting() >= queueEvents || queued + weight > queueBytes) dropped++;',
    'if (waiting() < 0) dropped++;',
  ],
  ['choice.audit.stop', JOURNAL, '      await within(stopMs, undefined, flush().then(flush));\n', ''],
  ['choice.audit.file', SINK, 'MODE = 0o600;', 'MODE = 0o644;'],
  ['choice.audit.file', SINK, 'if (now() - checkedMs >= CHECK_INTERVAL_MS) {', 'if (checkedMs < 0) {'],
  ['vmcp.audit.max-data-size', CAPTURE, 'bytes.subarray(0, maxBytes)', 'bytes'],
  [
    'vmcp.audit.max-delegation-depth-truncated',
    'plugins/audit/delegation.ts',
    '{ truncated: true, omitted }',
    '{ omitted }',
  ],
  ['choice.health.breaker-transitions', BREAKER, ' || nowMs < this.triesAtMs) return false;', ') return false;'],
  ['choice.health.breaker-transitions', BREAKER, '    this.#openedMs = nowMs;\n', ''],
  [
    'choice.health.breaker-refusal',
    MONITOR,
    'if (this.#broken.size === 0 || !this.#broken.has(backend))',
    'if (workload !== "")',
  ],
  ['choice.health.transitions', VITALS, 'record.failures > 0 || isSlow ?', 'isSlow ?'],
  ['choice.health.transitions', VITALS, 'failures >= threshold ?', 'failures > threshold ?'],
  ['choice.health.slow', MONITOR, 'SLOW_MS = 5_000;', 'SLOW_MS = 6_000;'],
  [
    'choice.health.users-credentials',
    MONITOR,
    "strategyOf(watch.name) !== 'unauthenticated'",
    "strategyOf(watch.name) === ''",
  ],
  [
    'choice.health.no-false-alarm',
    'core/backend/health.ts',
    ' && !isOutage(httpStatus)) return ALIVE;',
    ' && httpStatus < 0) return ALIVE;',
  ],
  ['choice.telemetry.masked-arguments', MASKED, 'left = SECRET_NAME.test(name) ? add', 'left = name === "" ? add'],
  ['choice.telemetry.masked-arguments', MASKED, 'return text.slice(0, TOTAL_CHARACTERS);', 'return text;'],
  [
    'choice.telemetry.bounded-series',
    'plugins/telemetry/bounded-labels.ts',
    'if (known.size >= maxValues) return OTHER;',
    '',
  ],
  [
    'choice.telemetry.bounded-series',
    'plugins/telemetry/labelled-counter.ts',
    "if (series.size >= MAX_SERIES && key !== '')",
    "if (key === '-')",
  ],
  [
    'choice.telemetry.parent-decides',
    'plugins/telemetry/exporters.ts',
    'new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(Number(config.samplingRate)) })',
    'new TraceIdRatioBasedSampler(Number(config.samplingRate))',
  ],
  [
    'choice.telemetry.no-secrets',
    'plugins/telemetry/call-outcome.ts',
    'return cause.code;\n',
    'return cause.message;\n',
  ],
  ['choice.telemetry.collector-away', 'plugins/telemetry/log-outages.ts', '{}, count(items))', '{})'],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
