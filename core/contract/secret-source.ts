/** Slot `secretSources`: reads secrets by name. */
export interface SecretSource {
  /** The value is never logged and never part of an error; an unknown or empty secret rejects with SECRET_MISSING. */
  read(name: string, signal: AbortSignal): Promise<string>;
}
