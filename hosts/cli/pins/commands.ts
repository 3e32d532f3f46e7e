import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { nearest } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import {
  approved,
  changePins,
  type Difference,
  differences,
  type EntryPins,
  type Finding,
  type Pins,
  pinsOf,
  readPins,
  rejected,
  scan,
  withChanges,
} from '@toolmgr/plugins/kit/tool-pins';
import { ownCommand } from '../../shared/own-command.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';

interface Place {
  readonly gateway?: string;
  readonly file?: string;
}

interface Format {
  readonly format: 'text' | 'json';
}

/** An entry of a pins file, with the word that commands name it by: `BACKEND/NAME`, or `BACKEND/KIND:NAME` for other kinds than tools. */
interface Listed {
  readonly id: string;
  readonly backend: string;
  readonly entry: string;
  readonly pins: EntryPins;
}

/** `toolmgr pins list`. */
export async function list({
  all = false,
  format,
  ...place
}: Place & Format & { readonly all?: boolean }): Promise<void> {
  const found = entriesOf(await readPins(await fileOf(place)));
  const shown = all ? found : found.filter(({ pins }) => pins.held.length > 0);
  if (format === 'json') return printJson(shown.map(({ id, pins }) => ({ entry: id, ...pins })));
  if (shown.length === 0) return stderr.line(found.length === 0 ? 'no pins yet' : 'nothing is held');
  const rows = shown.map(({ id, pins: { held, approved: pinned, rejected: no } }) => {
    const [first] = held;
    if (first === undefined) return [id, 'pinned', pinned[0]?.since.slice(0, 10) ?? '', pinned[0]?.by ?? ''];
    return [id, no.includes(first.hash) ? 'rejected' : 'held', first.since.slice(0, 10), first.reason];
  });
  for (const line of columns([['ENTRY', 'STATE', 'SINCE', 'WHY'], ...rows.map((row) => row.map(oneLine))]))
    stdout.line(line);
}

/** `toolmgr pins diff`. */
export async function diff(wanted: readonly string[], { format, ...place }: Place & Format): Promise<void> {
  const held = chosen(entriesOf(await readPins(await fileOf(place))), wanted, 'held');
  const shown = held.flatMap(({ id, pins }) => comparisons(id, pins));
  if (format === 'json') return printJson(shown);
  if (shown.length === 0) return stderr.line('nothing is held');
  for (const { entry, reason, changes, findings } of shown) {
    stdout.line(`${oneLine(entry)}: ${oneLine(reason)}`);
    for (const { path, before, after } of changes) {
      stdout.line(`  ${oneLine(path)}`);
      if (before !== undefined) stdout.line(`  - ${visible(textOf(before))}`);
      if (after !== undefined) stdout.line(`  + ${visible(textOf(after))}`);
    }
    for (const { path, finding } of findings) stdout.line(`  ! ${oneLine(path)} has ${finding}`);
  }
}

/** `toolmgr pins approve` and `reject`. */
export async function decide(
  how: 'approve' | 'reject',
  wanted: readonly string[],
  { all = false, ...place }: Place & { readonly all?: boolean },
): Promise<void> {
  if (all === wanted.length > 0)
    throw new UsageError(`name the entries, or give --all for everything that is held: ${ownCommand('pins list')}`);
  let decided: readonly Listed[] = [];
  await changePins(await fileOf(place), (pins) => {
    decided = chosen(entriesOf(pins), wanted, 'held');
    const changed = new Map<string, Map<string, EntryPins>>();
    for (const { backend, entry } of decided) {
      const before = pinsOf(pins, backend, entry);
      const after = how === 'approve' ? approved(before, userInfo().username, new Date()) : rejected(before);
      if (after !== undefined) changed.set(backend, (changed.get(backend) ?? new Map()).set(entry, after));
    }
    return withChanges(pins, changed);
  });
  if (decided.length === 0) return stderr.line('nothing is held');
  for (const { id } of decided) stdout.line(`${how === 'approve' ? 'approved' : 'rejected'} ${oneLine(id)}`);
}

/** The file with pins that the flags mean. @throws UsageError when there is none, or several */
async function fileOf({ gateway, file }: Place): Promise<string> {
  if (file !== undefined) {
    if (!existsSync(file)) throw new UsageError(`there is no file ${file}: a gateway with toolPinning writes it`);
    return file;
  }
  const folder = join(stateDir(), 'pins');
  const found = (await readdir(folder).catch(() => [])).filter(
    (name) => name.endsWith('.json') && !name.startsWith('.'),
  );
  const names = found.map((name) => decodeURIComponent(name.slice(0, -'.json'.length)));
  if (gateway !== undefined) {
    if (names.includes(gateway)) return join(folder, `${encodeURIComponent(gateway)}.json`);
    throw new UsageError(`no gateway ${gateway} has pins${names.length === 0 ? '' : `: ${names.join(', ')} have`}`);
  }
  const [only] = names;
  if (only === undefined)
    throw new UsageError(
      'no gateway has pins: a vmcp file with the section toolPinning makes one write them, in the state folder',
    );
  if (names.length > 1)
    throw new UsageError(`several gateways have pins; choose one: --gateway ${names.join(', --gateway ')}`);
  return join(folder, `${encodeURIComponent(only)}.json`);
}

function entriesOf({ backends }: Pins): readonly Listed[] {
  return Object.entries(backends).flatMap(([backend, entries]) =>
    Object.entries(entries).map(([entry, pins]) => ({ id: idOf(backend, entry), backend, entry, pins })),
  );
}

function idOf(backend: string, entry: string): string {
  const at = entry.indexOf(' ');
  const [kind, name] = [entry.slice(0, at), entry.slice(at + 1)];
  return kind === 'tool' ? `${backend}/${name}` : `${backend}/${kind}:${name}`;
}

/** Held entries, or those that are named. @throws UsageError for one that is not held, with the nearest name */
function chosen(all: readonly Listed[], wanted: readonly string[], state: 'held'): readonly Listed[] {
  const held = all.filter(({ pins }) => pins.held.length > 0);
  if (wanted.length === 0) return held;
  return wanted.map((id) => {
    const found = held.find((each) => each.id === id);
    if (found !== undefined) return found;
    if (all.some((each) => each.id === id)) throw new UsageError(`${id} is not ${state}`);
    const near = nearest(
      id,
      held.map((each) => each.id),
    );
    throw new UsageError(`nothing is named ${id}${near === undefined ? '' : `; did you mean ${near}?`}`);
  });
}

interface Comparison {
  readonly entry: string;
  readonly reason: string;
  readonly changes: readonly Difference[];
  readonly findings: readonly Finding[];
}

/** Every held definition against the newest pinned one, newest first: `approve` pins them all. */
function comparisons(entry: string, { held, approved: [pin] }: EntryPins): readonly Comparison[] {
  return held.map(({ definition, reason }) => ({
    entry,
    reason,
    changes: differences(pin?.definition ?? {}, definition),
    findings: scan(definition),
  }));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('\n', '\n    ') : JSON.stringify(value);
}

/** Text of a backend: an invisible character is shown by its number. */
function visible(text: string): string {
  return printable(
    text.replace(UNSEEN, (each) => `<U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`),
  );
}

/** As {@link visible}, for a name: a line break in it must not look like a line of ours. */
function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '<U+000A>');
}

/** Control and format characters, tags and variation selectors; not line breaks. */
const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}]|[\u{E0100}-\u{E01EF}]/gu;

function printJson(value: unknown): void {
  stdout.line(JSON.stringify(value, undefined, 2));
}
