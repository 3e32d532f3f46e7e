import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { stateDir } from '@toolmgr/plugins/kit/files';
import {
  comparisons,
  decide as decidePins,
  type HeldDefinition,
  heldNamed,
  listedEntries,
  readPins,
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

/** `toolmgr pins list`. */
export async function list({
  all = false,
  format,
  ...place
}: Place & Format & { readonly all?: boolean }): Promise<void> {
  const found = listedEntries(await readPins(await fileOf(place)));
  const shown = all ? found : found.filter(({ pins }) => pins.held.length > 0);
  if (format === 'json') return printJson(shown.map(({ id, pins }) => ({ entry: id, ...pins })));
  if (shown.length === 0) return stderr.line(found.length === 0 ? 'no pins yet' : 'nothing is held');
  const rows = shown.flatMap((entry) => {
    const waiting = comparisons(entry);
    if (waiting.length > 0)
      return waiting.map(({ state, since, hash, reason }) => [entry.id, state, since.slice(0, 10), reason, hash]);
    const [pin] = entry.pins.approved;
    return [[entry.id, 'pinned', pin?.since.slice(0, 10) ?? '', pin?.by ?? '', pin?.hash ?? '']];
  });
  for (const line of columns([['ENTRY', 'STATE', 'SINCE', 'WHY', 'HASH'], ...rows.map((row) => row.map(oneLine))]))
    stdout.line(line);
}

/** `toolmgr pins diff`. */
export async function diff(wanted: readonly string[], { format, ...place }: Place & Format): Promise<void> {
  const all = listedEntries(await readPins(await fileOf(place)));
  const meant = new Set(found(heldNamed(all, wanted)).map(({ id, hash }) => `${id}@${hash}`));
  const shown = all.flatMap(comparisons).filter(({ entry, hash }) => meant.has(`${entry}@${hash}`));
  if (format === 'json') return printJson(shown);
  if (shown.length === 0) return stderr.line('nothing is held');
  for (const { entry, hash, reason, changes, findings } of shown) {
    stdout.line(`${oneLine(entry)}@${oneLine(hash)}: ${oneLine(reason)}`);
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
  const outcome = await decidePins(await fileOf(place), { how, wanted, by: userInfo().username, now: new Date() });
  if ('refused' in outcome) throw new UsageError(outcome.refused);
  if (outcome.decided.length === 0) return stderr.line('nothing is held');
  for (const name of outcome.decided) stdout.line(`${how === 'approve' ? 'approved' : 'rejected'} ${oneLine(name)}`);
}

/** @throws UsageError when nothing is meant */
function found(held: ReturnType<typeof heldNamed>): readonly HeldDefinition[] {
  if ('refused' in held) throw new UsageError(held.refused);
  return held;
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
