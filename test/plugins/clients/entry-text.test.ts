import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_TYPES, clientRow } from '@toolmgr/plugins/clients';
import { describe, expect, it } from 'vitest';
import { entriesOf } from '../../../plugins/clients/edit/entries.ts';
import { type EditedText, type EntryText, isFault, type Made } from '../../../plugins/clients/edit/entry-text.ts';
import { entryFor } from '../../../plugins/clients/entry.ts';

const EXTENSION = { json: 'json.txt', yaml: 'yaml', toml: 'toml' } as const;

function put(edits: EntryText, text: string, name: string, value: object, made: Made = {}): EditedText {
  const edited = edits.put(text, name, { ...value }, made);
  if (isFault(edited)) throw new Error(`${edited.fault} at ${edited.line}:${edited.column}`);
  return edited;
}

function remove(edits: EntryText, text: string, name: string, made: Made): EditedText {
  const edited = edits.remove(text, name, made);
  if (isFault(edited)) throw new Error(`${edited.fault} at ${edited.line}:${edited.column}`);
  return edited;
}

describe.each(CLIENT_TYPES)('the file of %s', (type) => {
  const row = clientRow(type);
  const edits = entriesOf(row);
  const path = join(import.meta.dirname, 'files', `${type}.${EXTENSION[row.format]}`);
  const entry = (name: string, port: number) =>
    entryFor(type, { name, url: `http://127.0.0.1:${port}/mcp`, transport: 'streamable-http' });
  const readText = async () => (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');

  it('gets entries, and everything else stays byte for byte', async () => {
    const first = put(edits, await readText(), 'fetch-1', entry('fetch-1', 10001));
    const second = put(edits, first.text, 'time', entry('time', 10002), first.made);
    const golden = path.replace('/files/', '/golden/');
    await expect(second.text).toMatchFileSnapshot(golden);
  });

  it.each([
    ['in the order in which they came', ['a', 'b', 'c']],
    ['in the reverse order', ['c', 'b', 'a']],
    ['in another order', ['b', 'c', 'a']],
  ])('has its original bytes again after the entries are removed %s', async (_, order) => {
    const original = await readText();
    let edited = { text: original, made: {} } as EditedText;
    for (const [index, name] of ['a', 'b', 'c'].entries())
      edited = put(edits, edited.text, name, entry(name, 10_000 + index), edited.made);
    for (const name of order) edited = remove(edits, edited.text, name, edited.made);
    expect(edited.text).toBe(original);
  });

  it('has its original bytes again after an entry got another address', async () => {
    const original = await readText();
    const first = put(edits, original, 'a', entry('a', 10001));
    const second = put(edits, first.text, 'b', entry('b', 10002), first.made);
    const moved = put(edits, second.text, 'a', entry('a', 20_001), second.made);
    expect(moved.text).toContain('20001');
    expect(moved.text).not.toContain('10001');
    expect(moved.text.length).toBe(second.text.length);
    const rest = remove(edits, moved.text, 'b', moved.made);
    expect(remove(edits, rest.text, 'a', rest.made).text).toBe(original);
  });

  it('begins with an empty file and ends with an empty file', () => {
    const first = put(edits, '', 'a', entry('a', 10001));
    expect(first.text.endsWith('\n')).toBe(true);
    expect(remove(edits, first.text, 'a', first.made).text).toBe('');
  });

  it.each([
    'a/b',
    'a~b',
    '__proto__',
    'constructor',
    'a.b',
    'a"b',
    "a'b",
    'a\\b',
    'a: b',
    '- a',
    '#a',
    'ä 漢 🎉',
    'a]b',
    '{a',
    '*a',
    'null',
    '1',
    'a\tb',
  ])('takes an entry with the name %j and gives it back', async (name) => {
    const original = await readText();
    const written = put(edits, original, name, entry(name, 10001));
    const read = edits.read(written.text);
    if (isFault(read)) throw new Error(read.fault);
    expect(read.has(name)).toBe(true);
    expect(remove(edits, written.text, name, written.made).text).toBe(original);
  });
});
