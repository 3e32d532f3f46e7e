/** Slots and hooks of single features: what fills, taps or calls them imports them here. */
export { type Embedder, type EmbedderKind, type EmbedderSettings, embedders } from '../embedders/embedders.ts';
export { type TokenIssuer, tokenIssuers } from '../oauth/token-issuers.ts';
export { type UpstreamToken, type UpstreamTokens, upstreamTokens } from '../oauth/upstream-tokens.ts';
export {
  type ContainerBuild,
  type ContainerIsolation,
  type ContainerMount,
  type ContainerSpec,
  type WorkloadHandle,
  type WorkloadRuntime,
  type WorkloadSpec,
  type WorkloadState,
  workloadChanged,
  workloadRuntimes,
} from '../workloads/runtimes.ts';
export { type DataFound, dataFound } from './data-found.ts';
export { type KeptCount, keptResults } from './kept-results.ts';
export { type LimitSkipped, limitSkipped } from './limit-skipped.ts';
export { heldDefinitions, type PinChanged, pinChanged } from './pin-changed.ts';
export { type SignInChanged, signInChanged } from './sign-in-changed.ts';
export { type ToolSearched, toolSearched } from './tool-searched.ts';
export { type WorkflowAdvanced, workflowAdvanced } from './workflow-advanced.ts';
