import type { ConfiguredRegistry, Registries, RegistryTokens } from './registries.ts';

/** Where the registries of a user are set. */
export interface RegistrySettingsStore {
  /** Why the sources cannot be changed; `undefined` when they can. */
  lockedBy(): Promise<string | undefined>;
  /** Sets the source of the contract, or none: then the built-in document is used. @throws Error when it cannot be saved */
  setDefault(registry: ConfiguredRegistry | undefined): Promise<void>;
  /** Adds a further source before or behind the others; `false` when its name is taken. */
  add(registry: ConfiguredRegistry, isFirst: boolean): Promise<boolean>;
  /** Removes a further source; `false` when there is none of this name. */
  remove(name: string): Promise<boolean>;
}

/** A sign-in that waits for the person. */
export interface PendingSignIn {
  /** What the person opens. */
  readonly url: string;
  /** Ends by itself after its time. */
  readonly done: Promise<{ readonly kind: 'done' } | { readonly kind: 'failed'; readonly reason: string }>;
}

/** Signs people in at registries. */
export interface RegistrySignIn {
  /** `signal` ends the sign-in. */
  start(
    registry: ConfiguredRegistry,
    options: { readonly opensBrowser: boolean; readonly signal: AbortSignal },
  ): Promise<PendingSignIn | { readonly problem: string }>;
  /** Forgets the tokens. */
  end(registry: ConfiguredRegistry): Promise<void>;
}

/** What the operations of registries need. */
export interface RegistryDeps {
  readonly registries: Registries;
  readonly tokens: Pick<RegistryTokens, 'hasLogin'>;
  readonly settings: RegistrySettingsStore;
  readonly signIn: RegistrySignIn;
}
