import type { Backend } from '../contract/backend.ts';
import type { Log } from '../extension/plugin.ts';

/** The backends of all sources as one set. */
export interface BackendSet {
  /** Stores the whole snapshot of a source. */
  update(source: string, snapshot: readonly Backend[]): void;
  /** Sorted by name. */
  backends(): readonly Backend[];
}

/**
 * Merges the snapshots of backend sources by name and passes the set on when it differs from the previous one.
 *
 * Shape: sources are ordered by their first snapshot; a name in two sources belongs to the first one, with one warning
 * per pair.
 */
export function mergeSources(replace: (backends: readonly Backend[]) => void, log: Log): BackendSet {
  const snapshots = new Map<string, readonly Backend[]>();
  const warned = new Set<string>();
  let current: readonly Backend[] = [];

  const merge = (): Backend[] => {
    const owners = new Map<string, string>();
    const merged: Backend[] = [];
    for (const [source, snapshot] of snapshots) {
      for (const backend of snapshot) {
        const owner = owners.get(backend.name);
        if (owner === undefined) {
          owners.set(backend.name, source);
          merged.push(backend);
          continue;
        }
        const pair = `${backend.name} ${owner} ${source}`;
        if (warned.has(pair)) continue;
        warned.add(pair);
        log.warn('duplicate backend name; the first description is used', { backend: backend.name, owner, source });
      }
    }
    return merged.sort((one, other) => (one.name < other.name ? -1 : 1));
  };

  return {
    update(source, snapshot) {
      snapshots.set(source, snapshot);
      const merged = merge();
      if (merged.length === current.length && merged.every((backend, at) => sameBackend(backend, current[at]))) return;
      current = merged;
      replace(merged);
    },
    backends: () => current,
  };
}

/** Whether two descriptions are equal, independent of the order of members. */
export function sameBackend(one: Backend, other: Backend | undefined): boolean {
  return other !== undefined && canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
