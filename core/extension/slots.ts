import type { AuthStrategy } from '../contract/auth-strategy.ts';
import type { BackendSource } from '../contract/backend-source.ts';
import type { Sandbox } from '../contract/sandbox.ts';
import type { Searcher } from '../contract/searcher.ts';
import type { SecretSource } from '../contract/secret-source.ts';
import type { StdioLauncher } from '../contract/stdio-launcher.ts';
import type { StepType } from '../contract/step.ts';
import type { Store } from '../contract/store.ts';
import { Registry } from './registry.ts';

/** One registry per slot; the configuration chooses implementations by name. */
export function createSlots() {
  return {
    authStrategies: new Registry<AuthStrategy>('authStrategies'),
    backendSources: new Registry<BackendSource>('backendSources'),
    stepTypes: new Registry<StepType>('stepTypes'),
    sandboxes: new Registry<Sandbox>('sandboxes'),
    searchers: new Registry<Searcher>('searchers'),
    stores: new Registry<Store>('stores'),
    secretSources: new Registry<SecretSource>('secretSources'),
    stdioLaunchers: new Registry<StdioLauncher>('stdioLaunchers'),
  };
}

/** The slots of one gateway. */
export type Slots = ReturnType<typeof createSlots>;
