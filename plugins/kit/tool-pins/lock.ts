import { idOf } from './decide.ts';
import { hashOf } from './definition.ts';
import { type EntryPins, type Pins, pinsOf } from './pins-file.ts';

/** A file of pins for version control, and how it differs from the one of before. */
export interface LockedPins {
  readonly pins: Pins;
  readonly changes: readonly { readonly change: 'new' | 'changed' | 'gone'; readonly entry: string }[];
}

/**
 * Keeps the definitions that were found, sorted. Those that the file has keep their time and name, so that it changes only where definitions do.
 * Every definition that was found is pinned, also one that callers got in several forms.
 */
export function lockedPins(found: Pins, before: Pins): LockedPins {
  const changes: LockedPins['changes'][number][] = [];
  const backends = sorted(found.backends).map(([backend, entries]) => {
    const locked = sorted(entries).map(([entry, pins]) => {
      const known = pinsOf(before, backend, entry).approved;
      const approved = pins.approved.map(
        (pin) => known.find(({ hash }) => hash === pin.hash) ?? { ...pin, by: 'vmcp lock' },
      );
      if (known.length === 0) changes.push({ change: 'new', entry: idOf(backend, entry) });
      else if (hashesOf(approved) !== hashesOf(known)) changes.push({ change: 'changed', entry: idOf(backend, entry) });
      return [entry, { approved, held: [], rejected: [] } satisfies EntryPins] as const;
    });
    return [backend, Object.fromEntries(locked)] as const;
  });
  for (const [backend, entries] of Object.entries(before.backends)) {
    for (const entry of Object.keys(entries))
      if (pinsOf(found, backend, entry).approved.length === 0)
        changes.push({ change: 'gone', entry: idOf(backend, entry) });
  }
  return { pins: { ...found, backends: Object.fromEntries(backends) }, changes };
}

/** The first pin whose hash is not that of its definition, as people name it: its text was changed by hand, or the hash was. */
export function wrongHash({ backends }: Pins): string | undefined {
  for (const [backend, entries] of Object.entries(backends)) {
    for (const [entry, { approved }] of Object.entries(entries))
      if (approved.some(({ hash, definition }) => hashOf(definition) !== hash)) return idOf(backend, entry);
  }
  return undefined;
}

function hashesOf(pins: EntryPins['approved']): string {
  return pins
    .map(({ hash }) => hash)
    .sort()
    .join();
}

function sorted<T>(members: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  return Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
}
