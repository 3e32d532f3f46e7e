import type { ImageServer, RemoteServer } from './entry-schemas.ts';
import { shownText } from './entry-text.ts';

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

const MAX_REASON = 500;

/**
 * Collects entries. A later entry of the same name replaces an earlier one, unless it is `older`. Names and reasons of those
 * that are left out may quote the document, so they are made safe to print.
 */
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
    leaveOut: (name, reason) =>
      void leftOut.push({ name: shownText(name), reason: shownText(reason).slice(0, MAX_REASON) }),
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
