import type { Mutation } from './mutation.ts';

const BEARER = 'plugins/incoming-auth/oidc/bearer.ts';
const BUCKETS = 'plugins/rate-limit/buckets.ts';
const CLAIMS = 'plugins/incoming-auth/oidc/caller-from-claims.ts';
const CONFLICTS = 'plugins/aggregation/resolve-conflicts.ts';
const FILTER = 'plugins/aggregation/filter.ts';
const LIMITER = 'plugins/rate-limit/limiter.ts';
const OVERRIDE = 'plugins/aggregation/override.ts';
const PASSTHROUGH = 'core/pipeline/passthrough-headers.ts';
const SEAL = 'core/pipeline/bridge/request-state.ts';
const TOKENS = 'plugins/incoming-auth/oidc/token-verifier.ts';
const VERIFY = 'plugins/incoming-auth/oidc/verify-jwt.ts';

/** Authentication, limits and names. */
export const policyBehaviours: readonly Mutation[] = [
  ['choice.oidc.size', BEARER, 'if (header.length > MAX_TOKEN_LENGTH) return TOO_LONG;', ''],
  ['choice.oidc.bound-tokens', CLAIMS, "if (claims.cnf !== undefined) return 'bound';", ''],
  ['choice.oidc.actor-in-key', CLAIMS, 'claims.act === undefined || claims.act === null', 'true'],
  ['choice.oidc.algorithms', VERIFY, "'RS256',", "'HS256',\n  'RS256',"],
  ['choice.oidc.leeway', VERIFY, 'CLOCK_LEEWAY_S = 30;', 'CLOCK_LEEWAY_S = 60;'],
  ['choice.oidc.introspection-cache', TOKENS, 'LOOKUP_MS = 60_000;', 'LOOKUP_MS = 90_000;'],
  [
    'choice.oidc.cache',
    TOKENS,
    'return known === undefined || known.untilMs <= parts.now() ? undefined : known;',
    'return known;',
  ],
  ['choice.error.rate-limited-modern', LIMITER, 'retryAfterMs: waitMs }', 'retryAfterMs: 1 }'],
  ['vmcp.rate-limiting.per-user', BUCKETS, "hash('sha256', caller.subjectKey ?? caller.key, 'base64url')", "'all'"],
  ['vmcp.rate-limiting.tools', BUCKETS, "...(methods.has('tools/call') ? server : []), ...own]", '...own]'],
  ['choice.aggregation.hidden-not-callable', FILTER, "if (excludeAll) return 'excludeAll';", ''],
  ['choice.aggregation.visibility-order', FILTER, "if (excludeAllTools) return 'excludeAllTools';", ''],
  [
    'choice.aggregation.filter-original-too',
    FILTER,
    "return isOriginalName ? undefined : 'filter';",
    "return 'filter';",
  ],
  [
    'choice.aggregation.filter-after-override',
    FILTER,
    'advertised.has(overriddenName(tool, rules))',
    'advertised.has(tool.original)',
  ],
  [
    'choice.aggregation.override-annotation-unset-kept',
    OVERRIDE,
    "members.object('annotations') ?? RawObject.empty()",
    'RawObject.empty()',
  ],
  [
    'choice.aggregation.override-original-called',
    OVERRIDE,
    "renamed(tool, change.name, 'override.name')",
    "{ ...renamed(tool, change.name, 'override.name'), original: change.name }",
  ],
  [
    'choice.aggregation.priority-winner',
    CONFLICTS,
    '(ranks.get(a.backend) ?? 0) - (ranks.get(b.backend) ?? 0)',
    '(ranks.get(b.backend) ?? 0) - (ranks.get(a.backend) ?? 0)',
  ],
  [
    'choice.aggregation.manual-unresolved',
    CONFLICTS,
    'if (unresolved.length === 0) return',
    'if (unresolved.length >= 0) return',
  ],
  [
    'choice.aggregation.empty-prefix-format',
    CONFLICTS,
    "prefixFormat === '' ? DEFAULT_PREFIX : prefixFormat",
    'prefixFormat',
  ],
  [
    'choice.aggregation.prompt-prefixed',
    CONFLICTS,
    'prompts: allPrefixed(draft.prompts, format) };\n}\n\nfunction priority',
    'prompts: draft.prompts };\n}\n\nfunction priority',
  ],
  ['choice.passthrough.underscores', PASSTHROUGH, ".replaceAll('_', '-')", ''],
  ['choice.passthrough.connection-listed', PASSTHROUGH, '&& ofTheHop?.has(name) !== true', ''],
  ['choice.passthrough.credentials', PASSTHROUGH, "  'cookie',\n", ''],
  ['choice.passthrough.credentials', PASSTHROUGH, "  'authorization',\n", ''],
  ['ask.modern.request-state', SEAL, 'value.expiresAtMs <= nowMs', 'false'],
  ['ask.modern.request-state', SEAL, 'binding.caller.key, binding.method', 'binding.method'],
  ['ask.modern.request-state', SEAL, ', canonical(binding.arguments)]', ']'],
  [
    'choice.modern.cache-retry',
    'core/server/era-2026-07-28/response.ts',
    'const ttl = isRetry ? undefined :',
    'const ttl =',
  ],
  ['choice.modern.no-store', 'core/server/era-2026-07-28/response.ts', "'private, no-store'", "'private'"],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
