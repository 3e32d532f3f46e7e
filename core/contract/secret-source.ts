/** Slot `secretSources`: reads secrets by name. */
export interface SecretSource {
  /**
   * The value is never logged and never part of an error. Rejects with SECRET_MISSING for an unknown or empty secret.
   */
  read(name: string, signal: AbortSignal): Promise<string>;
}
