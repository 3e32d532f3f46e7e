import { parse as parseToml } from '@decimalturn/toml-patch';
import { isObject } from './canonical.ts';
import {
  type EntryText,
  eolOf,
  faultAt,
  isFault,
  lineEnd,
  type Plain,
  type ServersPlace,
  type TextFault,
} from './entry-text.ts';
import { containerFault, entriesIn, isAsMeant, layoutFault } from './expected.ts';

/**
 * Entries in TOML: a table `[KEY.NAME]` or an element `[[KEY]]` with `name`. A new one is written at the end of the file, where
 * a table is always allowed; nothing else is touched. The library's own edit would write dotted keys in front of other tables.
 */
export function tomlEntries(place: ServersPlace): EntryText {
  return {
    read(text) {
      const read = parse(text, place);
      return isFault(read) ? read : entriesIn(read.plain, place);
    },
    put(text, name, value, made) {
      const read = parse(text, place);
      if (isFault(read)) return read;
      const eol = eolOf(text);
      const own = blockText(place, name, value, eol);
      const present = entriesIn(read.plain, place).has(name);
      const rest = present ? withoutBlock(text, read.plain, place, name) : { text };
      if (rest === undefined) return layoutFault(text, place);
      if (present && 'at' in rest && rest.at !== undefined) {
        const after = `${rest.text.slice(0, rest.at)}${own}${rest.text.slice(rest.at)}`;
        if (holds(read.plain, after, place, name, value)) return { text: after, made, own };
      }
      const isWhole = rest.text === '' || rest.text.endsWith('\n');
      const after = `${rest.text}${glue(rest.text, eol)}${own}${isWhole ? eol : ''}`;
      // a list keeps its order only when the entry was the last one, so an update may move it
      return holds(read.plain, after, place, name, value) ? { text: after, made, own } : layoutFault(text, place);
    },
    remove(text, name, made) {
      const read = parse(text, place);
      if (isFault(read)) return read;
      if (!entriesIn(read.plain, place).has(name)) return { text, made, own: '' };
      const rest = withoutBlock(text, read.plain, place, name);
      if (rest === undefined) return layoutFault(text, place);
      return { text: withoutGlue(rest, eolOf(text)), made, own: rest.own };
    },
  };
}

function parse(text: string, place: ServersPlace): { readonly plain: Plain } | TextFault {
  const read = parsePlain(text);
  if (isFault(read)) return read;
  const fault = containerFault(read.plain, place);
  return fault === undefined ? read : faultAt(text, 0, fault);
}

/** Parses a whole TOML file. The fault does not quote it. */
export function parsePlain(text: string): { readonly plain: Plain } | TextFault {
  try {
    return { plain: parseToml(text) };
  } catch (cause) {
    // the message of the library quotes the line, which may hold a secret
    const [, line = '1', column = '1'] = /\((\d+), (\d+)\)/.exec((cause as Error).message) ?? [];
    return { fault: 'not TOML', line: Number(line), column: Number(column) };
  }
}

/** A blank line between what is there and a new table. */
function glue(text: string, eol: string): string {
  if (text === '') return '';
  return text.endsWith('\n') ? eol : eol + eol;
}

function blockText({ key, shape }: ServersPlace, name: string, value: object, eol: string): string {
  const header = shape === 'map' ? `[${key}.${keyText(name)}]` : `[[${key}]]`;
  const lines = Object.entries(value).map(([member, content]) => `${keyText(member)} = ${valueText(content)}`);
  return [header, ...lines].join(eol);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : stringText(key);
}

/** A basic string. JSON writes all its escapes in the same way, except for DEL, which it does not escape. */
function stringText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007F');
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return stringText(value);
  if (!isObject(value)) return String(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${keyText(key)} = ${valueText(member)}`)
    .join(', ')} }`;
}

interface WithoutBlock {
  readonly text: string;
  /** Where the block was. */
  readonly at?: number;
  readonly own: string;
}

/**
 * Removes the table of an entry. Lines that look like its header are tried one after another: only in the right place is the
 * rest what was meant.
 */
function withoutBlock(text: string, before: Plain, place: ServersPlace, name: string): WithoutBlock | undefined {
  const headers = [...text.matchAll(HEADER)].map((match) => match.index);
  for (const at of headers) {
    const end = blockEnd(text, headers.find((next) => next > at) ?? text.length);
    const rest = text.slice(0, at) + text.slice(end);
    if (holds(before, rest, place, name, undefined)) return { text: rest, at, own: text.slice(at, end) };
  }
  return undefined;
}

const HEADER = /^[ \t]*\[/gm;

/** The end of the last line of a table that is neither blank nor a comment. */
function blockEnd(text: string, next: number): number {
  let end = next;
  for (;;) {
    const start = text.lastIndexOf('\n', end - 2) + 1;
    const line = text.slice(start, end).trim();
    if (start === 0 || (line !== '' && !line.startsWith('#'))) return lineEnd(text, start);
    end = start;
  }
}

/** Removes the blank line that was written with the table. */
function withoutGlue({ text, at = 0 }: WithoutBlock, eol: string): string {
  const before = text.slice(0, at);
  const after = text.slice(at);
  if (after === eol || after === '') {
    // the last table of the file
    const added = after === '' ? eol + eol : eol;
    if (before === '') return '';
    return before.endsWith(eol + eol) ? before.slice(0, -added.length) : before;
  }
  const rest = after.startsWith(eol) ? after.slice(eol.length) : after;
  return before.endsWith(eol + eol) && rest.startsWith(eol) ? before.slice(0, -eol.length) + rest : before + rest;
}

function holds(before: Plain, after: string, place: ServersPlace, name: string, value: unknown): boolean {
  const read = parse(after, place);
  return !isFault(read) && isAsMeant(before, read.plain, place, name, value);
}
