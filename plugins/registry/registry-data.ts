import { compareTexts, compareVersions } from '@toolmgr/plugins/kit/workloads/schemes';
import type { ImageServer, RemoteServer } from './entry-schemas.ts';
import { shownText } from './entry-text.ts';
import type { ServerListed } from './records/read-record.ts';
import type { SkillRecord } from './records/record-shapes.ts';

/** A server of a registry with its name. */
export type RegistryEntry =
  | { readonly name: string; readonly image: ImageServer; readonly remote?: undefined }
  | { readonly name: string; readonly remote: RemoteServer; readonly image?: undefined };

/** An entry that is not used, and why. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

/** Servers that belong together. Their names are entries of the registry too. */
export interface RegistryGroup {
  readonly name: string;
  readonly description: string;
  readonly names: readonly string[];
}

/** A registry as it was read, sorted by name. Names of entries are unique. */
export interface Registry {
  readonly version: string;
  readonly lastUpdated: string;
  readonly entries: readonly RegistryEntry[];
  readonly leftOut: readonly LeftOut[];
  readonly groups: readonly RegistryGroup[];
  /** Records for readers of the registry-server API, also those that toolmgr cannot run, in the order of the document. */
  readonly records: readonly ServerListed[];
  readonly skills: readonly SkillRecord[];
}

const MAX_REASON = 500;

/** What a document has beyond its entries. */
export type RegistryRest = Partial<Omit<Registry, 'entries' | 'leftOut'>>;

/** What {@link collectEntries} makes. */
export interface EntryCollection {
  /** Adds an entry; one of the same name is replaced unless it has a higher version. */
  add(entry: RegistryEntry, version?: string): void;
  leaveOut(name: string, reason: string): void;
  registry(rest?: RegistryRest): Registry;
}

/**
 * Collects entries. Names and reasons of those that are left out may quote the document, so they are made safe to print.
 */
export function collectEntries(): EntryCollection {
  const entries = new Map<string, { readonly entry: RegistryEntry; readonly version: string }>();
  const leftOut: LeftOut[] = [];
  return {
    add(entry, version = '') {
      const before = entries.get(entry.name);
      if (before === undefined || compareVersions(version, before.version) >= 0) {
        entries.set(entry.name, { entry, version });
      }
    },
    leaveOut: (name, reason) =>
      void leftOut.push({ name: shownText(name).slice(0, MAX_NAME), reason: shownText(reason).slice(0, MAX_REASON) }),
    registry: (rest = {}) => ({
      version: '',
      lastUpdated: '',
      groups: [],
      records: [],
      skills: [],
      ...rest,
      entries: [...entries.values()].map(({ entry }) => entry).sort(byName),
      leftOut: leftOut.filter(({ name }) => !entries.has(name)).sort(byName),
    }),
  };
}

const MAX_NAME = 300;

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareTexts(a.name, b.name);
}
