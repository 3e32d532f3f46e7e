import type { Mutation } from './mutation.ts';

const BACKEND_GATE = 'core/backend/concurrency-limit.ts';
const EXCHANGE = 'plugins/kit/credentials/exchanged-credential.ts';
const INHERITED = 'core/backend/transports/inherited-environment.ts';
const LOCAL = 'plugins/incoming-auth/local/local-caller.ts';
const PUBLIC_ADDRESS = 'plugins/kit/safe-http/public-address.ts';
const REDIS = 'plugins/kit/redis/redis-connection.ts';
const REMOTE = 'plugins/kit/safe-http/remote-http.ts';
const SEND = 'core/backend/send.ts';
const SHARES = 'core/mcp/shares.ts';
const CREDENTIAL_CACHE = 'plugins/kit/credentials/credential-cache.ts';
const CREDENTIAL_KEYS = 'plugins/kit/credentials/credential-keys.ts';

/** Behaviour outside of the gateway: backends, token endpoints, Redis, the machine and the command line. */
export const outsideBehaviours: readonly Mutation[] = [
  [
    'choice.session.repeat-only-safe',
    SEND,
    'if (!cause.notRun && !(GONE.has(cause.category) && IDEMPOTENT.has(call.method))) throw cause;',
    '',
  ],
  ['ask.backend.no-unsafe-repeat', SEND, "new Set(['resources/read',", "new Set(['tools/call', 'resources/read',"],
  [
    'ask.backend.remade',
    'core/backend/failure.ts',
    "new Set(['refused', 'closed', 'session', 'exit'])",
    "new Set(['refused', 'closed', 'exit'])",
  ],
  ['choice.backend.concurrency', BACKEND_GATE, 'this.#inside < this.#limits.places && ', ''],
  ['choice.share.in-flight', BACKEND_GATE, ' && share.inside < this.#limits.placesPerCaller) {', ') {'],
  [
    'choice.share.in-flight',
    BACKEND_GATE,
    'isBefore(first.share, next.share)) next = first;',
    'isBefore(next.share, first.share)) next = first;',
  ],
  ['choice.share.queue', SHARES, 'if (own !== undefined && count >= this.#perCaller) return own;', ''],
  [
    'choice.share.sessions',
    SHARES,
    'most !== undefined && most.size > count + 1 ? most : (own ?? NOTHING)',
    'own ?? NOTHING',
  ],
  ['choice.share.key', 'core/mcp/shares.ts', "if (caller.issuer !== '') return caller.subjectKey ?? caller.key;", ''],
  ['choice.share.key', 'core/mcp/shares.ts', 'NETWORK_GROUPS = 4;', 'NETWORK_GROUPS = 5;'],
  [
    'choice.http.result-limit',
    'core/limits.ts',
    ".default(104_857_600)\n    .describe('largest answer of a backend",
    ".default(104_857_599)\n    .describe('largest answer of a backend",
  ],
  ['choice.remote.addresses', PUBLIC_ADDRESS, "'6to4': 2 }", '}'],
  [
    'choice.remote.addresses',
    PUBLIC_ADDRESS,
    "carrierGradeNat: 'a private address',",
    'carrierGradeNat: undefined as never,',
  ],
  [
    'choice.remote.addresses',
    PUBLIC_ADDRESS,
    "description ?? (isGlobalUnicast(six) ? undefined : 'a reserved address')",
    'description',
  ],
  [
    'choice.remote.rebinding',
    'plugins/kit/safe-http/guarded-connector.ts',
    'found.map(({ address }: LookupAddress) => address)',
    'found.slice(0, 1).map(({ address }: LookupAddress) => address)',
  ],
  ['choice.remote.redirects', REMOTE, 'status >= 300 && status < 400 && status !== 304', 'status < 0'],
  ['choice.remote.bounds', REMOTE, 'if (bytes > maxBytes) throw tooLarge();', ''],
  ['choice.token-exchange.kept', CREDENTIAL_KEYS, '{subject.reveal()}`', "{''}`"],
  ['choice.token-exchange.kept', CREDENTIAL_KEYS, '{backend}\\0$', "{''}\\0$"],
  ['choice.token-exchange.kept', CREDENTIAL_CACHE, ' - Math.min(EARLY_MS, lifeMs * MAX_EARLY_SHARE)', ''],
  [
    'choice.token-exchange.single-flight',
    CREDENTIAL_CACHE,
    'let shared = inFlight.get(key);',
    'let shared: Promise<Cached<T>> | undefined;',
  ],
  ['choice.token-exchange.recovers', CREDENTIAL_CACHE, 'FAILURE_MS = 2_000;', 'FAILURE_MS = 3_000;'],
  [
    'choice.token-exchange.renewed-on-401',
    EXCHANGE,
    '(token !== undefined || own !== undefined) && cache',
    '(token === undefined) && cache',
  ],
  [
    'choice.token-exchange.errors',
    'plugins/kit/oauth/backend-tokens.ts',
    "['invalid_grant', ['AUTH_STRATEGY_REFUSED'",
    "['invalid_grant', ['AUTH_STRATEGY_FAILED'",
  ],
  [
    'choice.token-exchange.discovery',
    EXCHANGE,
    'if (own === undefined) return undefined;',
    'if (own !== null) return undefined;',
  ],
  ['choice.store.redis-hangs', REDIS, 'socketTimeout: silenceMs,', 'socketTimeout: 60_000,'],
  ['choice.store.redis-wrong-settings', REDIS, 'if (permanentError === undefined) return;', 'return;'],
  ['choice.store.redis-once', 'plugins/stores/redis/connect-store.ts', 'repeats: false', 'repeats: true'],
  [
    'choice.store.redis-keys',
    'plugins/stores/redis/key-names.ts',
    'gateway.replace(/[%{}]/g, encodeURIComponent)}}',
    "'all'}}",
  ],
  ['choice.store.redis-keys', 'plugins/stores/redis/key-names.ts', '.replace(/[%{}]/g, encodeURIComponent)', ''],
  ['choice.rate-limit.store-full-closed', 'plugins/rate-limit/limiter.ts', ' && !isFull;', ';'],
  ['choice.rate-limit.store-away-open', 'plugins/rate-limit/config.ts', ".default('open')", ".default('closed')"],
  [
    'choice.local.loopback-only',
    LOCAL,
    'if (address === undefined) return false;',
    'if (address === undefined) return true;',
  ],
  ['choice.local.loopback-only', LOCAL, 'isThisMachine(remoteAddress) ? caller : ELSEWHERE', 'caller'],
  [
    'ask.plugin.process-environment',
    INHERITED,
    '...inheritedEnvironment(own), ...given',
    '...(own as Record<string, string>), ...given',
  ],
  ['choice.network.inherited', INHERITED, '(!RUNNERS.test(name) || WITHHELD.test(name))', '!RUNNERS.test(name)'],
  ['choice.network.inherited', INHERITED, "  'NODE_EXTRA_CA_CERTS',\n", ''],
  [
    'choice.network.no-proxy',
    'core/http1/proxy-route.ts',
    "if (host === 'localhost' || host.endsWith('.localhost') || isLoopback(host)) return true;",
    '',
  ],
  [
    'choice.first-start.minutes',
    'core/limits.ts',
    ".default(300_000)\n    .describe('time for the first start",
    ".default(200_000)\n    .describe('time for the first start",
  ],
  ['choice.endpoint.one-health', 'hosts/http/status-routes.ts', 'health?.status ?? HEALTH[status]', 'HEALTH[status]'],
  [
    'choice.endpoint.readyz-catalogue',
    'hosts/http/status-routes.ts',
    'if (!hasCatalogue(gateway)) return',
    'if (gateway === undefined) return',
  ],
  [
    'choice.endpoint.readyz-backends',
    'hosts/http/status-routes.ts',
    'if (backends.length === 0) return',
    'if (backends.length >= 0) return',
  ],
  [
    'choice.endpoint.status-headers',
    'hosts/http/mount.ts',
    "reply.header('x-content-type-options', 'nosniff').header(",
    'reply.header(',
  ],
  [
    'choice.endpoint.status',
    'hosts/http/mount.ts',
    "request.method !== 'GET' && request.method !== 'HEAD'",
    "request.method === 'PUT'",
  ],
  [
    'run.option.strict-protocol-validation-off',
    'core/server/era-2025-11-25/find-session.ts',
    'strictProtocolVersion ? named : undefined',
    'named',
  ],
  [
    'run.option.env',
    'hosts/workloads/fields/option-values.ts',
    '{ ...(before as Record<string, string> | undefined), [text',
    '{ [text',
  ],
  ['ask.vmcp.init-mode', 'hosts/cli/vmcp/main.ts', 'mode: 0o600, flag', 'mode: 0o644, flag'],
  [
    'ask.vmcp.session-ttl-flag',
    'hosts/cli/vmcp/main.ts',
    "if (text.startsWith('-')) throw new InvalidArgumentError('must not be negative');",
    '',
  ],
  ['ask.up.timeout', 'hosts/client-files/call-timeout.ts', 'value * (value <= MOST_SECONDS ? 1_000 : 1)', 'value'],
  ['choice.cli.person-folder', 'hosts/cli/invoked-from.ts', 'process.chdir(folder);', ''],
  ['choice.cli.foreground-exit-code', 'hosts/run/commands/foreground.ts', ' endsWithProgram: true,', ''],
  [
    'run.option.foreground',
    'hosts/run/commands/foreground.ts',
    '= await removeWithSecrets(state, name);',
    '= { left: undefined };',
  ],
  ['run.option.secret-into-env', 'hosts/workloads/proxy/plan.ts', '...env_vars, ...start.variables,', '...env_vars,'],
  [
    'run.option.remote-forward-headers-secret',
    'plugins/outgoing-auth/forward-headers/strategy.ts',
    '{ ...headers, ...(await headerSecrets(slots, headersEnv, where)) }',
    'headers',
  ],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
