import type { Catalogue } from '@toolmgr/core';

/**
 * Every first-party plugin by address, loaded only when a plan uses it. `contract` reads its section of a vmcp file without it.
 *
 * The order is also the order of plugins in plans of hosts: secrets, authorization server, incoming auth, authorization, outgoing auth,
 * runtimes, backend sources, names, state, records. Where flags choose several strategies, the first one here counts.
 */
export const catalogue: Catalogue = {
  'secrets/environment': {
    load: () => import('./secrets/environment/index.ts'),
    section: { isInEveryPlan: true },
  },
  'secrets/encrypted': () => import('./secrets/encrypted/index.ts'),
  'auth-server': {
    load: () => import('./auth-server/index.ts'),
    section: { contractKey: 'authServerConfig' },
    contract: () => import('./auth-server/contract.ts'),
    flags: { fields: ['embedded_auth_server_config'], read: () => import('./auth-server/from-flags.ts') },
  },
  'incoming-auth/anonymous': {
    load: () => import('./incoming-auth/anonymous/index.ts'),
    section: { choice: { of: 'incomingAuth', type: 'anonymous', isDefault: true, callers: 'anonymous' } },
  },
  'incoming-auth/local': {
    load: () => import('./incoming-auth/local/index.ts'),
    section: { choice: { of: 'incomingAuth', type: 'local', callers: 'local' } },
  },
  'incoming-auth/oidc': {
    load: () => import('./incoming-auth/oidc/index.ts'),
    section: { contractKey: 'incomingAuth.oidc', choice: { of: 'incomingAuth', type: 'oidc', callers: 'token' } },
    contract: () => import('./incoming-auth/oidc/contract.ts'),
    flags: { fields: ['oidc_config'], read: () => import('./incoming-auth/oidc/from-flags.ts') },
  },
  'interception/webhooks': {
    load: () => import('./interception/webhooks/index.ts'),
    flags: {
      fields: ['mutating_webhooks', 'validating_webhooks'],
      read: () => import('./interception/webhooks/from-flags.ts'),
    },
  },
  'authorization/cedar': {
    load: () => import('./authorization/cedar/index.ts'),
    section: { contractKey: 'incomingAuth.authz', leftOutOf: ['running'] },
    contract: () => import('./authorization/cedar/contract.ts'),
    flags: { fields: ['authz_config'], read: () => import('./authorization/cedar/from-flags.ts') },
  },
  'authorization/decision-point': {
    load: () => import('./authorization/decision-point/index.ts'),
    section: { contractKey: 'decisionPoint', leftOutOf: ['running'] },
    contract: () => import('./authorization/decision-point/contract.ts'),
  },
  'outgoing-auth/unauthenticated': {
    load: () => import('./outgoing-auth/unauthenticated/index.ts'),
    section: { choice: { of: 'outgoingAuth.*', type: 'unauthenticated', isDefault: true } },
    contract: () => import('./outgoing-auth/unauthenticated/contract.ts'),
  },
  'outgoing-auth/forward-headers': {
    load: () => import('./outgoing-auth/forward-headers/index.ts'),
    flags: {
      fields: ['header_forward', 'remote_auth_config', 'remote_headers'],
      read: () => import('./outgoing-auth/forward-headers/from-flags.ts'),
    },
  },
  'outgoing-auth/header-injection': {
    load: () => import('./outgoing-auth/header-injection/index.ts'),
    section: {
      contractKey: 'outgoingAuth.*.headerInjection',
      choice: { of: 'outgoingAuth.*', type: 'header_injection' },
    },
    contract: () => import('./outgoing-auth/header-injection/contract.ts'),
  },
  'outgoing-auth/aws-sts': {
    load: () => import('./outgoing-auth/aws-sts/index.ts'),
    section: {
      contractKey: 'outgoingAuth.*.awsSts',
      choice: { of: 'outgoingAuth.*', type: 'aws_sts', needsCallerToken: true },
    },
    contract: () => import('./outgoing-auth/aws-sts/contract.ts'),
    flags: { fields: ['aws_sts_config'], read: () => import('./outgoing-auth/aws-sts/from-flags.ts') },
  },
  'outgoing-auth/token-exchange': {
    load: () => import('./outgoing-auth/token-exchange/index.ts'),
    section: {
      contractKey: 'outgoingAuth.*.tokenExchange',
      choice: { of: 'outgoingAuth.*', type: 'token_exchange', needsCallerToken: true },
    },
    contract: () => import('./outgoing-auth/token-exchange/contract.ts'),
    flags: { fields: ['token_exchange_config'], read: () => import('./outgoing-auth/token-exchange/from-flags.ts') },
  },
  'outgoing-auth/obo': {
    load: () => import('./outgoing-auth/obo/index.ts'),
    section: {
      contractKey: 'outgoingAuth.*.obo',
      choice: { of: 'outgoingAuth.*', type: 'obo', needsCallerToken: true },
    },
    contract: () => import('./outgoing-auth/obo/contract.ts'),
  },
  'outgoing-auth/upstream-inject': {
    load: () => import('./outgoing-auth/upstream-inject/index.ts'),
    section: {
      contractKey: 'outgoingAuth.*.upstreamInject',
      choice: { of: 'outgoingAuth.*', type: 'upstream_inject', needsCallerToken: true },
    },
    contract: () => import('./outgoing-auth/upstream-inject/contract.ts'),
    flags: { fields: ['upstream_swap_config'], read: () => import('./outgoing-auth/upstream-inject/from-flags.ts') },
  },
  'outgoing-auth/xaa': {
    load: () => import('./outgoing-auth/xaa/index.ts'),
    section: {
      contractKey: 'outgoingAuth.*.xaa',
      choice: { of: 'outgoingAuth.*', type: 'xaa', needsCallerToken: true },
    },
    contract: () => import('./outgoing-auth/xaa/contract.ts'),
  },
  'outgoing-auth/oauth-client': {
    load: () => import('./outgoing-auth/oauth-client/index.ts'),
    flags: { fields: ['remote_auth_config'], read: () => import('./outgoing-auth/oauth-client/from-flags.ts') },
  },
  'workloads/container': {
    load: () => import('./workloads/container/index.ts'),
    flags: { fields: ['image'], read: () => import('./workloads/container/from-flags.ts') },
  },
  'workloads/kubernetes': {
    load: () => import('./workloads/kubernetes/index.ts'),
    flags: { fields: ['pod'], read: () => import('./workloads/kubernetes/from-flags.ts') },
  },
  'workloads/process': {
    load: () => import('./workloads/process/index.ts'),
    flags: { fields: ['process'], read: () => import('./workloads/process/from-flags.ts') },
  },
  'workloads/remote-url': {
    load: () => import('./workloads/remote-url/index.ts'),
    flags: { fields: ['remote_url'], read: () => import('./workloads/remote-url/from-flags.ts') },
  },
  'backend-sources/group': {
    load: () => import('./backend-sources/group/index.ts'),
    section: { contractKey: 'groupRef' },
    contract: () => import('./backend-sources/group/contract.ts'),
  },
  'backend-sources/static': {
    load: () => import('./backend-sources/static/index.ts'),
    section: { contractKey: 'backends' },
    contract: () => import('./backend-sources/static/contract.ts'),
  },
  'backend-sources/kubernetes': {
    load: () => import('./backend-sources/kubernetes/index.ts'),
    section: { contractKey: 'kubernetes' },
    contract: () => import('./backend-sources/kubernetes/contract.ts'),
  },
  'backend-sources/workloads': () => import('./backend-sources/workloads/index.ts'),
  aggregation: {
    load: () => import('./aggregation/index.ts'),
    section: { contractKey: 'aggregation', isRequired: true },
    contract: () => import('./aggregation/contract.ts'),
    flags: { fields: ['tools_filter', 'tools_override'], read: () => import('./aggregation/from-flags.ts') },
  },
  'tool-pinning': {
    load: () => import('./tool-pinning/index.ts'),
    section: { contractKey: 'toolPinning' },
    contract: () => import('./tool-pinning/contract.ts'),
  },
  confirmation: () => import('./confirmation/index.ts'),
  'data-protection': {
    load: () => import('./data-protection/index.ts'),
    section: { contractKey: 'dataProtection' },
    contract: () => import('./data-protection/contract.ts'),
  },
  'optimizer/search': () => import('./optimizer/search/index.ts'),
  'optimizer/embed-tei': () => import('./optimizer/embed-tei/index.ts'),
  'optimizer/embed-openai': () => import('./optimizer/embed-openai/index.ts'),
  'optimizer/embed-local': () => import('./optimizer/embed-local/index.ts'),
  'optimizer/tools': {
    load: () => import('./optimizer/tools/index.ts'),
    section: { contractKey: 'optimizer', ownTools: ['find_tool', 'call_tool'] },
    contract: () => import('./optimizer/tools/contract.ts'),
  },
  'stores/memory': () => import('./stores/memory/index.ts'),
  'stores/redis': {
    load: () => import('./stores/redis/index.ts'),
    section: { contractKey: 'sessionStorage', leftOutOf: ['listing', 'running', 'deciding'] },
    contract: () => import('./stores/redis/contract.ts'),
    flags: { fields: ['scaling_config'], read: () => import('./stores/redis/from-flags.ts') },
  },
  'rate-limit': {
    load: () => import('./rate-limit/index.ts'),
    section: { contractKey: 'rateLimiting', leftOutOf: ['running', 'deciding'] },
    contract: () => import('./rate-limit/contract.ts'),
    flags: { fields: ['rate_limit_config'], read: () => import('./rate-limit/from-flags.ts') },
  },
  'result-limits': {
    load: () => import('./result-limits/index.ts'),
    section: { contractKey: 'resultLimits', ownTools: ['read_result'], leftOutOf: ['running'] },
    contract: () => import('./result-limits/contract.ts'),
  },
  'code-mode/quickjs': () => import('./code-mode/quickjs/index.ts'),
  'code-mode/execute-script': {
    load: () => import('./code-mode/execute-script/index.ts'),
    section: { contractKey: 'codeMode', hasSwitch: true, ownTools: ['execute_tool_script'] },
    contract: () => import('./code-mode/execute-script/contract.ts'),
  },
  'composite/engine': {
    load: () => import('./composite/engine/index.ts'),
    section: { contractKey: 'compositeTools' },
    contract: () => import('./composite/engine/contract.ts'),
  },
  health: {
    load: () => import('./health/index.ts'),
    section: { contractKey: 'operational.failureHandling', monitorsBackends: true },
    contract: () => import('./health/contract.ts'),
  },
  'partial-failure': {
    load: () => import('./partial-failure/index.ts'),
    section: { whenAbsent: 'operational.failureHandling' },
  },
  audit: {
    load: () => import('./audit/index.ts'),
    section: { contractKey: 'audit', hasSwitch: true, leftOutOf: ['listing', 'deciding'] },
    contract: () => import('./audit/contract.ts'),
    flags: { fields: ['audit_config'], read: () => import('./audit/from-flags.ts') },
  },
  telemetry: {
    load: () => import('./telemetry/index.ts'),
    section: { contractKey: 'telemetry', leftOutOf: ['listing', 'deciding'] },
    contract: () => import('./telemetry/contract.ts'),
    flags: { fields: ['telemetry_config'], read: () => import('./telemetry/from-flags.ts') },
  },
};

/** The plugins of the manager. Hosts add those that start workloads. */
export const managerCatalogue: Catalogue = {
  clients: () => import('./clients/index.ts'),
  registry: () => import('./registry/index.ts'),
  'image-verification': () => import('./image-verification/index.ts'),
  skills: () => import('./skills/index.ts'),
  pins: () => import('./pins/index.ts'),
};

// Shared with hosts.
export { environmentSecrets } from './secrets/environment/environment-secrets.ts';
export { commandFromScheme } from './workloads/process/command-from-scheme.ts';
export { type FoundProgram, findProgram } from './workloads/process/find-program.ts';
export type { SchemeCommand, SchemeOutcome } from './workloads/process/scheme-outcome.ts';
