import { nearest } from '@toolmgr/core';
import { type Difference, differences } from './differences.ts';
import { approved, rejected } from './judge.ts';
import { changePins, type EntryPins, type Held, type Pins, withChanges } from './pins-file.ts';
import { type Finding, scan } from './scan.ts';

/** An entry of a pins file, with the word that people name it by: `BACKEND/NAME`, or `BACKEND/KIND:NAME` for other kinds than tools. */
export interface ListedEntry {
  readonly id: string;
  readonly backend: string;
  /** Kind and name, as the file has them. */
  readonly entry: string;
  readonly pins: EntryPins;
}

/** Every entry of a pins file. */
export function listedEntries({ backends }: Pins): readonly ListedEntry[] {
  return Object.entries(backends).flatMap(([backend, entries]) =>
    Object.entries(entries).map(([entry, pins]) => ({ id: idOf(backend, entry), backend, entry, pins })),
  );
}

/** A held definition against the newest pinned one. */
export interface Comparison {
  readonly entry: string;
  readonly hash: string;
  readonly state: 'held' | 'rejected';
  readonly since: string;
  readonly reason: string;
  readonly changes: readonly Difference[];
  readonly findings: readonly Finding[];
}

/** Every held definition of an entry, newest first. */
export function comparisons({ id, pins }: ListedEntry): readonly Comparison[] {
  const [pin] = pins.approved;
  return pins.held.map(({ hash, definition, since, reason }) => ({
    entry: id,
    hash,
    state: pins.rejected.includes(hash) ? 'rejected' : 'held',
    since,
    reason,
    changes: differences(pin?.definition ?? {}, definition),
    findings: scan(definition),
  }));
}

/** What a person decides: `wanted` names entries, `ID` or `ID@HASH`; without any it is everything that is held. */
export interface Decision {
  readonly how: 'approve' | 'reject';
  readonly wanted: readonly string[];
  /** Name of the person. */
  readonly by: string;
  readonly now: Date;
}

/** What was decided, as `ID@HASH`; or why nothing was, as a clause. */
export type Decided = { readonly decided: readonly string[] } | { readonly refused: string };

/**
 * Writes a decision into a pins file. With a hash it is about that definition only, so what a backend changes after a person looked is not approved.
 * All or nothing. @throws GatewayFault as {@link changePins}
 */
export async function decide(file: string, { how, wanted, by, now }: Decision): Promise<Decided> {
  let outcome: Decided = { decided: [] };
  await changePins(file, (pins) => {
    const found = heldNamed(listedEntries(pins), wanted);
    if ('refused' in found) {
      outcome = found;
      return pins;
    }
    outcome = { decided: found.map(({ id, hash }) => `${id}@${hash}`) };
    let after = pins;
    for (const { backend, entry, hash } of found) {
      const before = after.backends[backend]?.[entry];
      const changed = before && (how === 'approve' ? approved(before, hash, by, now) : rejected(before, hash));
      if (changed !== undefined) after = withChanges(after, new Map([[backend, new Map([[entry, changed]])]]));
    }
    return after;
  });
  return outcome;
}

/** A definition that waits. */
export type HeldDefinition = ListedEntry & Pick<Held, 'hash'>;

/** Held definitions: those that are named, or all. A rejected one is meant only by its hash. */
export function heldNamed(
  all: readonly ListedEntry[],
  wanted: readonly string[],
): readonly HeldDefinition[] | { readonly refused: string } {
  const undecided = (each: ListedEntry) =>
    each.pins.held.filter(({ hash }) => !each.pins.rejected.includes(hash)).map(({ hash }) => ({ ...each, hash }));
  if (wanted.length === 0) return all.flatMap(undecided);
  const found: HeldDefinition[] = [];
  for (const name of wanted) {
    const { id, hash } = namedBy(name);
    const named = all.filter((each) => each.id === id);
    const [listed] = named;
    if (listed === undefined) {
      const near = nearest(id, [...new Set(all.map((each) => each.id))]);
      return { refused: `nothing is named ${id}${near === undefined ? '' : `; did you mean ${near}?`}` };
    }
    if (hash !== undefined) {
      const holder = named.find(({ pins }) => pins.held.some((each) => each.hash === hash));
      if (holder === undefined) return { refused: `${id} is not held with ${hash}: look at it again` };
      found.push({ ...holder, hash });
      continue;
    }
    // backends choose names: `b/c` of the backend `a` reads like `c` of the backend `a/b`
    if (named.length > 1) return { refused: `several entries are named ${id}: name one with its hash` };
    const waiting = undecided(listed);
    if (waiting.length > 0) found.push(...waiting);
    else if (listed.pins.held.length === 0) return { refused: `${id} is not held` };
    else return { refused: `${id} is rejected: name it with its hash` };
  }
  return found;
}

/** A backend chooses names, so only the last hash counts. */
function namedBy(text: string): { readonly id: string; readonly hash?: string } {
  const [, id, hash] = /^(.*)@(sha256:[0-9a-f]{64})$/s.exec(text) ?? [];
  return id === undefined || hash === undefined ? { id: text } : { id, hash };
}

/** The word that people name an entry by. */
export function idOf(backend: string, entry: string): string {
  const at = entry.indexOf(' ');
  const [kind, name] = [entry.slice(0, at), entry.slice(at + 1)];
  return kind === 'tool' ? `${backend}/${name}` : `${backend}/${kind}:${name}`;
}
