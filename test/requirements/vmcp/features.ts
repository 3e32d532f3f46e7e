import type { Section } from '../section.ts';

/** Audit, code mode, optimizer, rate limits and telemetry. */
export const features = [
  {
    source: 'vmcp spec §2 audit',
    says: {
      'vmcp.audit.enabled': 'audit.enabled is false by default',
      'vmcp.audit.log-file': 'audit.logFile is a path to append to',
      'vmcp.audit.log-file-empty': 'an empty audit.logFile means stdout',
    },
  },
  {
    source: 'vmcp spec §2 audit',
    says: {
      'vmcp.audit.component': 'audit.component is a string',
      'vmcp.audit.detect-application-errors': 'audit.detectApplicationErrors is true by default',
      'vmcp.audit.detect-application-errors-prefix': 'a prefix of 2xx JSON-RPC answers is inspected for errors',
      'vmcp.audit.event-types': 'audit.eventTypes is string[] and empty means all',
      'vmcp.audit.exclude-event-types': 'audit.excludeEventTypes takes precedence over eventTypes',
      'vmcp.audit.include-request-data': 'audit.includeRequestData is false by default',
      'vmcp.audit.include-response-data': 'audit.includeResponseData is false by default',
      'vmcp.audit.max-data-size': 'audit.maxDataSize is an integer of bytes, 1024 by default',
      'vmcp.audit.max-delegation-depth': 'audit.maxDelegationDepth is an integer of at least 1, 10 by default',
      'vmcp.audit.max-delegation-depth-truncated': 'deeper act chains are cut and marked truncated=true',
    },
  },
  {
    source: 'vmcp spec §2 codeMode',
    says: {
      'vmcp.code-mode.enabled': 'codeMode.enabled is false by default',
      'vmcp.code-mode.disabled-not-advertised': 'execute_tool_script is not advertised when codeMode is off',
      'vmcp.code-mode.parallel-max-concurrency':
        'codeMode.parallelMaxConcurrency is an integer of at least 1, 10 by default',
      'vmcp.code-mode.parallel-max-concurrency-caps': 'parallelMaxConcurrency caps the parallel() builtin of scripts',
      'vmcp.code-mode.step-limit': 'codeMode.stepLimit is an int64 of at least 1, 100000 by default',
      'vmcp.code-mode.tool-call-timeout': 'codeMode.toolCallTimeout is a Go duration, 30s by default',
      'vmcp.code-mode.tool-call-timeout-raises':
        'a script call past toolCallTimeout is cancelled and raises a timeout error in the script',
      'vmcp.code-mode.inner-calls-authorised': 'each inner tool call of a script is authorised on its own',
    },
  },
  {
    source: 'vmcp spec §2 optimizer',
    says: {
      'vmcp.optimizer.exposes-two-tools': 'an enabled optimizer exposes only find_tool and call_tool',
      'vmcp.optimizer.embedding-provider': 'optimizer.embeddingProvider is tei or openai, tei by default',
      'vmcp.optimizer.embedding-service': 'optimizer.embeddingService is a base URL',
      'vmcp.optimizer.embedding-model': 'optimizer.embeddingModel is required for openai and ignored for tei',
      'vmcp.optimizer.embedding-headers': 'optimizer.embeddingHeaders is a string map for openai only',
      'vmcp.optimizer.embedding-headers-forbidden': 'embeddingHeaders refuses Authorization and Content-Type',
      'vmcp.optimizer.embedding-service-timeout': 'optimizer.embeddingServiceTimeout is a Go duration, 30s by default',
      'vmcp.optimizer.semantic-ratio':
        'optimizer.hybridSearchSemanticRatio is a decimal string from 0.0 to 1.0, 0.5 by default',
      'vmcp.optimizer.semantic-ratio-ends': 'a ratio of 0.0 is all keyword and 1.0 all semantic',
      'vmcp.optimizer.max-tools-to-return': 'optimizer.maxToolsToReturn is an integer from 1 to 50, 8 by default',
      'vmcp.optimizer.distance-threshold':
        'optimizer.semanticDistanceThreshold is a decimal string from 0 to 2, 1.0 by default',
      'vmcp.optimizer.distance-threshold-semantic-only': 'semanticDistanceThreshold applies to semantic search only',
      'vmcp.optimizer.api-key': 'the embedding key is read from EMBEDDING_API_KEY',
      'vmcp.optimizer.api-key-empty': 'an empty embedding key omits the Authorization header',
      'vmcp.optimizer.pins-revision': 'an enabled optimizer pins the instance to revision 2025-11-25',
      'vmcp.optimizer.negotiates-down': 'clients of revision 2026-07-28 are negotiated down under the optimizer',
    },
  },
  {
    source: 'vmcp spec §2 optimizer',
    says: {
      'vmcp.optimizer.embedding-provider-openai-exclusive':
        'openai together with spec.embeddingServerRef is rejected at admission',
    },
  },
  {
    source: 'vmcp spec §2 optimizer',
    says: {
      'vmcp.optimizer.embedding-service-overridden':
        'spec.embeddingServerRef overrides embeddingService with a warning',
    },
  },
  {
    source: 'vmcp spec §2 rateLimiting',
    says: {
      'vmcp.rate-limiting.per-user-keys-expire': 'Redis keys of users expire after twice refillPeriod',
      'vmcp.rate-limiting.needs-redis': 'distributed rate limits need Redis session storage',
      'vmcp.rate-limiting.shared': 'rateLimiting.shared is a Bucket for all users',
      'vmcp.rate-limiting.per-user': 'rateLimiting.perUser is a Bucket per authenticated user',
      'vmcp.rate-limiting.per-user-needs-authentication': 'rateLimiting.perUser needs authentication',
      'vmcp.rate-limiting.tools': 'rateLimiting.tools lists objects of name, perUser and shared',
      'vmcp.rate-limiting.tools-name': 'rateLimiting.tools[].name is required with at least 1 character',
      'vmcp.rate-limiting.server-and-tool': 'a call must pass the limit of the server and that of the tool',
      'vmcp.rate-limiting.max-tokens': 'Bucket.maxTokens is a required int32 of at least 1 and the burst size',
      'vmcp.rate-limiting.refill-period': 'Bucket.refillPeriod is a required Go duration from empty to full',
      'vmcp.rate-limiting.rate': 'the rate of a bucket is maxTokens divided by refillPeriod',
    },
  },
  {
    source: 'vmcp spec §2 telemetry',
    says: {
      'vmcp.telemetry.endpoint': 'telemetry.endpoint is a string',
      'vmcp.telemetry.headers': 'telemetry.headers is a string map',
      'vmcp.telemetry.insecure': 'telemetry.insecure is false by default',
      'vmcp.telemetry.ca-cert-path': 'telemetry.caCertPath is a string',
      'vmcp.telemetry.service-name': 'telemetry.serviceName is the server name by default',
      'vmcp.telemetry.service-version': 'telemetry.serviceVersion is the product version by default',
      'vmcp.telemetry.tracing-enabled': 'telemetry.tracingEnabled is false by default',
      'vmcp.telemetry.metrics-enabled': 'telemetry.metricsEnabled is false by default',
      'vmcp.telemetry.sampling-rate': 'telemetry.samplingRate is a string, 0.05 by default',
      'vmcp.telemetry.prometheus-path':
        'telemetry.enablePrometheusMetricsPath is false by default and serves /metrics on the main transport port',
      'vmcp.telemetry.custom-attributes': 'telemetry.customAttributes is a string map',
      'vmcp.telemetry.environment-variables':
        'telemetry.environmentVariables is string[] of variables copied into spans',
      'vmcp.telemetry.legacy-attributes': 'telemetry.useLegacyAttributes is true by default',
    },
  },
] as const satisfies readonly Section[];
