import type { Mutation } from './mutation.ts';

const RESOLVE = 'core/pipeline/resolve.ts';
const MODERN_RESULT = 'core/server/era-2026-07-28/response.ts';
const SESSIONS = 'core/server/era-2025-11-25/sessions/sessions.ts';
const FIND_SESSION = 'core/server/era-2025-11-25/find-session.ts';
const MONITOR = 'plugins/health/monitor.ts';
const EXIT_CODES = 'hosts/shared/exit-codes.ts';

/** Behaviour of the gateway: removing or reversing a line must fail the proofs of its requirement. */
export const behaviours: readonly Mutation[] = [
  ['run.option.host', 'hosts/workloads/proxy/proxy.ts', 'host: config.host,', "host: '127.0.0.1',"],
  [
    'vmcp.rate-limiting.per-user-keys-expire',
    'plugins/stores/redis/take-script.ts',
    'period[key] * 2',
    'period[key] * 1.5',
  ],
  ['choice.reload.owner', SESSIONS, '!isSameKey(session.caller.key, caller.key)', 'false'],
  [
    'choice.health.return',
    MONITOR,
    "watch.isConnected = state.status === 'ready' || state.status === 'unauthenticated';",
    'watch.isConnected = false;',
  ],
  ['choice.health.return', MONITOR, "    if (change !== 'status') return;\n", "    if (change === 'status') return;\n"],
  ['choice.modern.result-type', MODERN_RESULT, "if (!members.has('resultType')) parts.push(COMPLETE);", ''],
  ['choice.modern.result-type', MODERN_RESULT, `',"resultType":"complete"'`, `',"resultType":"done"'`],
  ['choice.session.unknown-404', FIND_SESSION, 'unknown: { status: 404', 'unknown: { status: 400'],
  ['choice.session.unknown-404', SESSIONS, "end(session, 'expired');\n    return undefined;", 'return session;'],
  ['choice.capability.completions', RESOLVE, "if (refersToPrompt(params)) return catalog.find('prompt', name);", ''],
  [
    'choice.capability.completions',
    RESOLVE,
    'catalog.findTemplate(name) ?? catalog.findResource(name)',
    'catalog.findTemplate(name)',
  ],
  ['ask.vmcp.exit-codes', EXIT_CODES, 'toolFailed: { code: 5', 'toolFailed: { code: 4'],
  ['ask.vmcp.exit-codes', EXIT_CODES, 'failed: { code: 1', 'failed: { code: 3'],
  ['ask.vmcp.exit-codes', EXIT_CODES, 'interrupted: { code: 130', 'interrupted: { code: 131'],
  [
    'vmcp.config.group-ref',
    'plugins/backend-sources/static/contract.ts',
    'with: { group, backends }',
    "with: { group: 'other', backends }",
  ],
  [
    'vmcp.config.group-ref',
    'plugins/backend-sources/group/contract.ts',
    'with: { group } }',
    "with: { group: 'other' } }",
  ],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
