import type { AuthStrategy } from '../contract/auth-strategy.ts';
import type { BackendSource } from '../contract/backend-source.ts';
import type { Sandbox } from '../contract/sandbox.ts';
import type { EmbedderKind, Searcher } from '../contract/searcher.ts';
import type { SecretSource } from '../contract/secret-source.ts';
import type { StdioLauncher } from '../contract/stdio-launcher.ts';
import type { StepType } from '../contract/step.ts';
import type { Store } from '../contract/store.ts';
import type { TokenIssuer } from '../contract/token-issuer.ts';
import type { UpstreamTokens } from '../contract/upstream-tokens.ts';
import type { WorkloadRuntime } from '../contract/workload-runtime.ts';
import { Registry } from './registry.ts';

/** One registry per slot; the configuration chooses implementations by name. */
export function createSlots() {
  return {
    authStrategies: new Registry<AuthStrategy>('authStrategies'),
    backendSources: new Registry<BackendSource>('backendSources'),
    stepTypes: new Registry<StepType>('stepTypes'),
    sandboxes: new Registry<Sandbox>('sandboxes'),
    searchers: new Registry<Searcher>('searchers'),
    embedders: new Registry<EmbedderKind>('embedders'),
    stores: new Registry<Store>('stores'),
    secretSources: new Registry<SecretSource>('secretSources'),
    stdioLaunchers: new Registry<StdioLauncher>('stdioLaunchers'),
    tokenIssuers: new Registry<TokenIssuer>('tokenIssuers'),
    upstreamTokens: new Registry<UpstreamTokens>('upstreamTokens'),
    workloadRuntimes: new Registry<WorkloadRuntime>('workloadRuntimes'),
  };
}

/** The slots of one gateway. */
export type Slots = ReturnType<typeof createSlots>;
