import type { Plugin } from '@toolmgr/core';

/** Every first-party plugin by address, loaded only when a plan uses it. */
export const catalogue: Readonly<Record<string, () => Promise<{ readonly default: Plugin }>>> = {
  aggregation: () => import('./aggregation/index.ts'),
  'code-mode/execute-script': () => import('./code-mode/execute-script/index.ts'),
  'code-mode/quickjs': () => import('./code-mode/quickjs/index.ts'),
  health: () => import('./health/index.ts'),
  'incoming-auth/anonymous': () => import('./incoming-auth/anonymous/index.ts'),
  'incoming-auth/local': () => import('./incoming-auth/local/index.ts'),
  'incoming-auth/oidc': () => import('./incoming-auth/oidc/index.ts'),
  'outgoing-auth/header-injection': () => import('./outgoing-auth/header-injection/index.ts'),
  'outgoing-auth/token-exchange': () => import('./outgoing-auth/token-exchange/index.ts'),
  'outgoing-auth/unauthenticated': () => import('./outgoing-auth/unauthenticated/index.ts'),
  'authorization/cedar': () => import('./authorization/cedar/index.ts'),
  'composite/engine': () => import('./composite/engine/index.ts'),
  audit: () => import('./audit/index.ts'),
  'backend-sources/group': () => import('./backend-sources/group/index.ts'),
  'backend-sources/static': () => import('./backend-sources/static/index.ts'),
  'backend-sources/workloads': () => import('./backend-sources/workloads/index.ts'),
  'workloads/process': () => import('./workloads/process/index.ts'),
  'workloads/remote-url': () => import('./workloads/remote-url/index.ts'),
  'partial-failure': () => import('./partial-failure/index.ts'),
  'rate-limit': () => import('./rate-limit/index.ts'),
  'optimizer/embed-local': () => import('./optimizer/embed-local/index.ts'),
  'optimizer/embed-openai': () => import('./optimizer/embed-openai/index.ts'),
  'optimizer/embed-tei': () => import('./optimizer/embed-tei/index.ts'),
  'optimizer/tools': () => import('./optimizer/tools/index.ts'),
  'secrets/environment': () => import('./secrets/environment/index.ts'),
  telemetry: () => import('./telemetry/index.ts'),
  'optimizer/search': () => import('./optimizer/search/index.ts'),
  'stores/memory': () => import('./stores/memory/index.ts'),
  'stores/redis': () => import('./stores/redis/index.ts'),
};

export { environmentSecrets } from './secrets/environment/environment-secrets.ts';
// What hosts share with plugins: what reads the same settings, and starts the same workloads.
export { decimalText } from './shared/decimal-text.ts';
export { durationMs, goDuration } from './shared/go-duration.ts';
export { readOptionalSecretFrom, readSecretFrom } from './shared/read-secret.ts';
export { redactedText } from './shared/redact.ts';
export {
  commandFromScheme,
  type SchemeCommand,
  type SchemeOutcome,
  WHAT_WORKS,
} from './workloads/process/command-from-scheme.ts';
export { type FoundProgram, findProgram } from './workloads/process/find-program.ts';
