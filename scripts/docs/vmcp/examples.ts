/** A section with what it needs of other sections. */
type Example = Readonly<Record<string, unknown>>;

/**
 * One example for each section of a vmcp file that has keys, by its key. An example has all that a file needs apart from
 * {@link SURROUNDINGS}.
 */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  backends: {
    name: 'team',
    groupRef: 'team',
    incomingAuth: { type: 'anonymous' },
    outgoingAuth: { source: 'inline' },
    aggregation: { conflictResolution: 'prefix' },
    backends: [
      { name: 'docs', url: 'https://docs.example.com/mcp', transport: 'streamable-http' },
      { name: 'files', transport: 'stdio', command: { file: 'mcp-server-filesystem', args: ['/srv/files'] } },
    ],
  },
  aggregation: {
    aggregation: {
      conflictResolution: 'prefix',
      conflictResolutionConfig: { prefixFormat: '{workload}_' },
      tools: [
        {
          workload: 'docs',
          filter: ['search', 'read'],
          overrides: { search: { description: 'Searches the documentation of the company' } },
        },
      ],
    },
  },
  decisionPoint: { decisionPoint: { url: 'https://policies.example.com', claims: ['groups'] } },
  resultLimits: {
    resultLimits: {
      default: { bytes: 65_536 },
      tools: [{ name: 'docs_search', estimatedTokens: 4_096 }, { name: 'docs_export' }],
      keepFor: '30m',
    },
  },
  toolPinning: { toolPinning: { mode: 'approve', file: '/etc/toolmgr/pins.json' } },
  dataProtection: {
    dataProtection: {
      rules: [
        { direction: 'arguments', detectors: ['secret'], action: 'block' },
        { direction: 'results', backends: ['docs'], detectors: ['card-number', 'iban'], action: 'mask' },
      ],
    },
  },
  incomingAuth: {
    incomingAuth: {
      type: 'oidc',
      oidc: {
        issuer: 'https://login.example.com',
        clientId: 'toolmgr',
        audience: 'https://tools.example.com/mcp',
      },
      authz: { type: 'cedar', policies: ['permit(principal in THVGroup::"editors", action, resource);'] },
    },
  },
  outgoingAuth: {
    outgoingAuth: {
      source: 'inline',
      default: { type: 'unauthenticated' },
      backends: {
        docs: {
          type: 'header_injection',
          headerInjection: { headerName: 'Authorization', headerValueEnv: 'DOCS_AUTHORIZATION' },
        },
      },
    },
  },
  operational: {
    operational: {
      timeouts: { default: '20s', perWorkload: { docs: '1m' } },
      failureHandling: { partialFailureMode: 'best_effort', circuitBreaker: { enabled: true, timeout: '30s' } },
    },
  },
  audit: {
    audit: { enabled: true, logFile: '/var/log/toolmgr/audit.log', eventTypes: ['mcp_tools_list', 'mcp_tool_call'] },
  },
  authServerConfig: {
    incomingAuth: {
      type: 'oidc',
      oidc: {
        issuer: 'https://tools.example.com',
        clientId: 'toolmgr',
        audience: 'https://tools.example.com/mcp',
      },
    },
    authServerConfig: {
      issuer: 'https://tools.example.com',
      signingKeySecretRefs: [{ file: '/run/secrets/signing.pem' }],
      hmacSecretRefs: [{ file: '/run/secrets/hmac.bin' }],
      upstreamProviders: [
        {
          name: 'company',
          type: 'oidc',
          oidcConfig: {
            issuerUrl: 'https://login.example.com',
            clientId: 'toolmgr',
            clientSecretRef: { env: 'COMPANY_CLIENT_SECRET' },
            scopes: ['openid', 'profile', 'offline_access'],
          },
        },
      ],
    },
  },
  codeMode: { codeMode: { enabled: true, scriptTimeout: '1m', maxToolCalls: 100 } },
  compositeToolRefs: { compositeToolRefs: [{ name: 'weekly-report' }] },
  compositeTools: {
    compositeTools: [
      {
        name: 'find_and_read',
        description: 'Finds the best page for a question and reads it',
        parameters: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
        steps: [
          { id: 'find', tool: 'docs.search', arguments: { query: '{{ .params.question }}' } },
          { id: 'read', tool: 'docs.read', dependsOn: ['find'], arguments: { page: '{{ .steps.find.output.text }}' } },
        ],
        output: { properties: { page: { type: 'string', value: '{{ .steps.read.output.text }}' } } },
      },
    ],
  },
  endpoint: { endpoint: { path: '/mcp', allowedOrigins: ['https://app.example.com'] } },
  kubernetes: { kubernetes: { report: 'tools-report', drainTime: '25s' } },
  limits: { limits: { bodyBytes: 1_048_576, sessions: 500 } },
  optimizer: { optimizer: { maxToolsToReturn: 8 } },
  plugins: { plugins: [{ use: 'stores/memory', with: { maxKeys: 500 } }] },
  rateLimiting: {
    rateLimiting: {
      perUser: { maxTokens: 100, refillPeriod: '1m' },
      tools: [{ name: 'docs_search', shared: { maxTokens: 10, refillPeriod: '1s' } }],
    },
    incomingAuth: { type: 'local' },
  },
  sessionStorage: { sessionStorage: { provider: 'redis', address: 'redis.example.com:6379', tls: true } },
  statusPages: { statusPages: { port: 9090, tokenEnv: 'STATUS_TOKEN' } },
  telemetry: {
    telemetry: {
      endpoint: 'https://collector.example.com:4318',
      tracingEnabled: true,
      metricsEnabled: true,
      samplingRate: '0.25',
      enablePrometheusMetricsPath: true,
    },
  },
};

/** What a complete file has beside an example. */
export const SURROUNDINGS: Example = { ...EXAMPLES.backends };

/** Guides of a section, as Markdown from `docs/reference/vmcp`. */
export const GUIDES: Readonly<Record<string, string>> = {
  incomingAuth: '[policies and operation](../../guides/policy.md), [signing in](../../guides/sign-in.md)',
  outgoingAuth: '[signing in](../../guides/sign-in.md)',
  authServerConfig: '[signing in](../../guides/sign-in.md)',
  rateLimiting: '[policies and operation](../../guides/policy.md)',
  audit: '[policies and operation](../../guides/policy.md)',
  telemetry: '[observability](../../guides/observability.md)',
  statusPages: '[observability](../../guides/observability.md#status-pages)',
  compositeTools: '[composite tools](../../guides/composite-tools.md)',
  codeMode: '[scripts over tools](../../guides/code-mode.md)',
  optimizer: '[the optimizer](../../guides/optimizer.md)',
  plugins: '[all plugins](../plugins.md), [writing a plugin](../../guides/writing-a-plugin.md)',
  kubernetes: '[Kubernetes](../../operations/kubernetes.md)',
  limits: '[all limits](../limits.md)',
};
