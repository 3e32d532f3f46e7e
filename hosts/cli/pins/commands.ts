import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { stateDir } from '@toolmgr/plugins/kit/files';
import {
  comparisons,
  decide as decidePins,
  type HeldDefinition,
  heldNamed,
  listedEntries,
  pinsFiles,
  readPins,
  visibleLine,
  visibleText,
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
  if (format === 'json') return stdout.json(shown.map(({ id, pins }) => ({ entry: id, ...pins })));
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
  if (format === 'json') return stdout.json(shown);
  if (shown.length === 0) return stderr.line('nothing is held');
  for (const { entry, hash, reason, changes, findings } of shown) {
    stdout.line(`${oneLine(entry)}@${oneLine(hash)}: ${oneLine(reason)}`);
    for (const { path, before, after } of changes) {
      stdout.line(`  ${oneLine(path)}`);
      if (before !== undefined) stdout.line(`  - ${indented(before)}`);
      if (after !== undefined) stdout.line(`  + ${indented(after)}`);
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
  const found = await pinsFiles(stateDir(process.env));
  const names = found.map((each) => each.gateway);
  if (gateway !== undefined) {
    const named = found.find((each) => each.gateway === gateway);
    if (named !== undefined) return named.file;
    throw new UsageError(`no gateway ${gateway} has pins${names.length === 0 ? '' : `: ${names.join(', ')} have`}`);
  }
  const [only] = found;
  if (only === undefined)
    throw new UsageError(
      'no gateway has pins: a vmcp file with the section toolPinning makes one write them, in the state folder',
    );
  if (found.length > 1)
    throw new UsageError(`several gateways have pins; choose one: --gateway ${names.join(', --gateway ')}`);
  return only.file;
}

function indented(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return printable(visibleText(text)).replaceAll('\n', '\n    ');
}

function oneLine(text: string): string {
  return printable(visibleLine(text));
}
