import type { PinChanged } from '../extension-points/pin-changed.ts';
import { type EntryPins, type Pins, pinsOf } from './pins-file.ts';

/** One decision, or one definition that waits for one. */
export type PinChange = Omit<PinChanged, 'atMs'>;

/** What became held, and what persons decided, between two states of a file. Pins of first use and of the scanner are no decisions. */
export function pinChanges(before: Pins, after: Pins): readonly PinChange[] {
  return Object.entries(after.backends).flatMap(([backend, entries]) =>
    Object.entries(entries).flatMap(([entry, pins]) => {
      const old = pinsOf(before, backend, entry);
      if (old === pins) return [];
      const at = entry.indexOf(' ');
      const place = { backend, kind: entry.slice(0, at), name: entry.slice(at + 1) };
      return changesOf(old, pins).map((change) => ({ ...change, ...place }));
    }),
  );
}

/** Definitions that wait for a person, by backend: what was rejected does not. */
export function heldCounts({ backends }: Pins): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(backends).map(([backend, entries]) => {
      const counts = Object.values(entries).map(
        ({ held, rejected }) => held.filter(({ hash }) => !rejected.includes(hash)).length,
      );
      return [backend, counts.reduce((sum, count) => sum + count, 0)];
    }),
  );
}

function changesOf(old: EntryPins, pins: EntryPins): readonly Omit<PinChange, 'backend' | 'kind' | 'name'>[] {
  const isNew = (list: readonly { readonly hash: string }[], hash: string) => !list.some((each) => each.hash === hash);
  return [
    ...pins.held
      .filter(({ hash }) => isNew(old.held, hash))
      .map(({ hash, reason }) => ({ change: 'held' as const, hash, reason })),
    ...pins.approved
      .filter(({ hash, by }) => isNew(old.approved, hash) && by !== 'first use' && by !== 'scan')
      .map(({ hash, by }) => ({ change: 'approved' as const, hash, by })),
    ...pins.rejected
      .filter((hash) => !old.rejected.includes(hash))
      .map((hash) => ({ change: 'rejected' as const, hash })),
  ];
}
