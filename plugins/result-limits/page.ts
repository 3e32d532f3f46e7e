import { fitting } from './fitting.ts';

/** A part of a text, and a line that says which. */
export interface Page {
  readonly about: string;
  readonly text: string;
}

/** Which part of a text is read. */
export interface PageRequest {
  readonly offset: number;
  /** As many as fit, when absent. */
  readonly limit: number | undefined;
  /** Most bytes of the page as a JSON string. */
  readonly bytes: number;
}

/** Characters are UTF-16 code units, as in JavaScript. */
export function charactersOf(text: string, { offset, limit, bytes }: PageRequest): Page {
  if (offset > text.length) return { about: `the text has only ${text.length} characters`, text: '' };
  const window = text.slice(offset, offset + Math.min(limit ?? bytes, bytes));
  const page = fitting(window, bytes) || text.slice(offset, offset + PAIR); // a character of two units, of which one was wanted
  const end = offset + page.length;
  return { about: `characters ${offset} to ${end} of ${text.length}${more(end, text.length)}`, text: page };
}

/** Whole lines; one that is longer than a page is cut, and the place of its rest is told. */
export function linesOf(text: string, { offset, limit = Number.POSITIVE_INFINITY, bytes }: PageRequest): Page {
  const start = placeOfLine(text, 0, offset);
  if (start === undefined) return { about: `the text has fewer than ${offset + 1} lines`, text: '' };
  const end = placeOfLine(text, start, limit) ?? text.length;
  const window = text.slice(start, Math.min(end, start + bytes));
  const page = fitting(window, bytes);
  if (start + page.length >= end) return { about: `lines from ${offset}${atEnd(text, end, offset, page)}`, text: page };
  const cut = page.lastIndexOf('\n') + 1;
  if (cut > 0)
    return { about: `lines from ${offset}; next offset ${offset + newlines(page)}`, text: page.slice(0, cut) };
  const rest = start + page.length;
  return {
    about: `the beginning of line ${offset}, which is longer than a page: read on with unit characters from offset ${rest}`,
    text: page,
  };
}

/** Places of a text, without regard to case, with what is around them. */
export function matchesOf(text: string, search: string, { offset, limit = 20, bytes }: PageRequest): Page {
  const [within, wanted] = [folded(text), folded(search)];
  const lines: string[] = [];
  let skipped = 0;
  let used = 0;
  let at = within.indexOf(wanted);
  while (at !== -1) {
    const end = at + wanted.length;
    if (skipped < offset) skipped++;
    else {
      const line = `${at}: ${text.slice(Math.max(0, at - AROUND), end + AROUND).replace(LINE_ENDS, ' ')}`;
      used += Buffer.byteLength(JSON.stringify(line));
      if (lines.length >= limit || used > bytes) break;
      lines.push(line);
    }
    at = within.indexOf(wanted, end);
  }
  const next = at === -1 ? '; no more' : `; next offset ${offset + lines.length}`;
  const about = `${lines.length} places from ${offset}, each after its character offset${next}`;
  return { about, text: lines.join('\n') };
}

/** In lower case, and as long as before: the one letter whose lower case is longer loses its dot. */
function folded(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}

const AROUND = 100; // characters before and behind a place
const PAIR = 2;
const LINE_ENDS = /[\r\n]+/g;

function more(end: number, length: number): string {
  return end < length ? `; next offset ${end}` : '; the end';
}

function atEnd(text: string, end: number, offset: number, page: string): string {
  return end < text.length ? `; next offset ${offset + newlines(page)}` : '; the end';
}

/** Where the line begins that is `lines` behind `from`; `undefined` when the text ends before. */
function placeOfLine(text: string, from: number, lines: number): number | undefined {
  let at = from;
  for (let line = 0; line < lines; line++) {
    const found = text.indexOf('\n', at);
    if (found === -1) return undefined;
    at = found + 1;
  }
  return at;
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
