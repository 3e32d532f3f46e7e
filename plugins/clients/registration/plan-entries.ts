import { canonical } from '../edit/canonical.ts';
import { entriesOf } from '../edit/entries.ts';
import { type EntryText, isFault, type Made, type TextFault } from '../edit/entry-text.ts';
import { type Entry, entryFor } from '../entry.ts';
import { type ClientType, clientRow } from '../table/client-table.ts';
import type { ClientRecord } from './client-record.ts';

/** An entry that is left as it is, and why. */
export interface EntryConflict {
  readonly name: string;
  readonly why: string;
}

/** What a change does to the text of a file. */
export interface EntryPlan {
  readonly text: string;
  readonly made: Made;
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly removed: readonly string[];
  readonly conflicts: readonly EntryConflict[];
  /** What the record says afterwards. */
  readonly entries: Readonly<Record<string, string[]>>;
  /** Lines that toolmgr wrote, before and after: everything else may hold secrets of the user. */
  readonly own: ReadonlySet<string>;
}

/** How entries are planned. */
export interface PlanOptions {
  /** Entries that toolmgr did not write are overwritten, and changed ones are removed. */
  readonly force?: boolean;
  /** An entry that the user removed is written again. */
  readonly restores?: boolean;
}

/**
 * Plans the changes that make the file hold exactly the wanted entries of toolmgr. Pure.
 *
 * Entries of the user, and entries that were changed after toolmgr wrote them, stay and are reported.
 */
export function planEntries(
  type: ClientType,
  text: string,
  wanted: readonly Entry[],
  record: Pick<ClientRecord, 'entries' | 'made'> | undefined,
  { force = false, restores = false }: PlanOptions,
): EntryPlan | TextFault {
  const edits = entriesOf(clientRow(type));
  const present = edits.read(text);
  if (isFault(present)) return present;
  const known = record?.entries ?? {};
  const names = new Set(wanted.map(({ name }) => name));
  const entries: Record<string, string[]> = Object.create(null); // a name may be __proto__
  const done = { added: [] as string[], updated: [] as string[], removed: [] as string[] };
  const conflicts: EntryConflict[] = [];
  const own = new Set<string>();
  let now: { readonly text: string; readonly made: Made } = { text, made: (record?.made ?? {}) as Made };

  for (const [name, values] of Object.entries(known).filter(([given]) => !names.has(given))) {
    const current = present.get(name);
    if (current === undefined) continue;
    if (!force && !values.includes(canonical(current))) {
      conflicts.push({ name, why: 'it was changed after toolmgr wrote it' });
      continue;
    }
    const edited = edits.remove(now.text, name, now.made);
    if (isFault(edited)) return edited;
    addLines(own, edited.own);
    now = edited;
    done.removed.push(name);
  }
  for (const entry of wanted) {
    const { name } = entry;
    const value = entryFor(type, entry);
    const fresh = canonical(asRead(edits, name, value));
    const values = Object.hasOwn(known, name) ? known[name] : undefined;
    const current = present.get(name);
    if (current !== undefined && canonical(current) === fresh) {
      if (values !== undefined || force) entries[name] = [fresh];
      continue;
    }
    const isOurs = current !== undefined && values?.includes(canonical(current));
    if (current !== undefined && !isOurs && !force) {
      const why = values === undefined ? 'toolmgr did not write it' : 'it was changed after toolmgr wrote it';
      conflicts.push({ name, why });
      if (values !== undefined) entries[name] = values;
      continue;
    }
    if (current === undefined && values?.includes(fresh) && !restores) {
      entries[name] = [fresh]; // the user removed it
      continue;
    }
    const edited = edits.put(now.text, name, value, now.made);
    if (isFault(edited)) return edited;
    if (isOurs) addLines(own, ownLines(edits, text, name));
    addLines(own, edited.own);
    now = edited;
    entries[name] = [fresh];
    (current === undefined ? done.added : done.updated).push(name);
  }
  return { text: now.text, made: now.made, ...done, conflicts, entries, own };
}

/** A value as the format reads it again, e.g. integers of YAML. */
function asRead(edits: EntryText, name: string, value: Record<string, unknown>): unknown {
  const written = edits.put('', name, value, {});
  const read = isFault(written) ? written : edits.read(written.text);
  return isFault(read) ? value : read.get(name);
}

/** The lines of an entry as they are in a text. */
function ownLines(edits: EntryText, text: string, name: string): string {
  const removed = edits.remove(text, name, {});
  return isFault(removed) ? '' : removed.own;
}

function addLines(own: Set<string>, lines: string): void {
  for (const line of lines.split(/\r?\n/)) own.add(bare(line));
}

/** A line without indentation and the comma at its end. */
export function bare(line: string): string {
  return line.trim().replace(/,$/, '');
}
