import type { ImageServer, RemoteServer } from './entry-schemas.ts';

/** A server of a registry with its name. */
export type RegistryEntry =
  | { readonly name: string; readonly image: ImageServer; readonly remote?: undefined }
  | { readonly name: string; readonly remote: RemoteServer; readonly image?: undefined };

/** An entry that is not used, and why. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

/** A registry as it was read, sorted by name. Names are unique. */
export interface Registry {
  readonly version: string;
  readonly lastUpdated: string;
  readonly entries: readonly RegistryEntry[];
  readonly leftOut: readonly LeftOut[];
}

/** Collects entries. A later entry of the same name replaces an earlier one, unless it is `older`. */
export function collectEntries(): {
  add(entry: RegistryEntry, isOlder?: boolean): void;
  leaveOut(name: string, reason: string): void;
  registry(version: string, lastUpdated: string): Registry;
} {
  const entries = new Map<string, RegistryEntry>();
  const leftOut: LeftOut[] = [];
  return {
    add(entry, isOlder = false) {
      if (!isOlder || !entries.has(entry.name)) entries.set(entry.name, entry);
    },
    leaveOut: (name, reason) => void leftOut.push({ name, reason }),
    registry: (version, lastUpdated) => ({
      version,
      lastUpdated,
      entries: [...entries.values()].sort(byName),
      leftOut: leftOut.filter(({ name }) => !entries.has(name)).sort(byName),
    }),
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
