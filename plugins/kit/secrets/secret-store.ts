import { GatewayFault } from '@toolmgr/core';

/** What is stored cannot be used, e.g. a damaged file. Other faults of a store are mended by its user, e.g. with another password. */
export class DamagedSecrets extends GatewayFault {
  constructor(message: string) {
    super('SECRETS_UNAVAILABLE', message);
  }
}

/** What a provider of secrets can do. Source: workload API reference §7. */
export interface SecretCapabilities {
  readonly can_read: boolean;
  readonly can_write: boolean;
  readonly can_delete: boolean;
  readonly can_list: boolean;
  readonly can_cleanup: boolean;
}

/** A name that a provider lists. */
export interface ListedSecret {
  readonly key: string;
  readonly description: string;
}

/** Secrets of a user with one provider. Each function throws GatewayFault SECRETS_UNAVAILABLE; no message has a value. */
export interface SecretStore {
  readonly capabilities: SecretCapabilities;
  /** `undefined` when there is none. */
  read(key: string, signal: AbortSignal): Promise<string | undefined>;
  /** Whether it was new. Absent: the provider is read-only. */
  write?(key: string, value: string, mode: 'create' | 'update' | 'any'): Promise<'written' | 'exists' | 'missing'>;
  /** Whether there was one. */
  remove?(key: string): Promise<boolean>;
  list?(signal: AbortSignal): Promise<readonly ListedSecret[]>;
  /** Checks that the provider works. */
  test(signal: AbortSignal): Promise<void>;
}
