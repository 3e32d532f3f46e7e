/** A value of a configuration file, as its format reads it. Objects have no prototype. */
export type Plain = unknown;

/** Where the servers are in a file. */
export interface ServersPlace {
  readonly key: string;
  readonly shape: 'map' | 'list';
}

/** What {@link EntryText.put} added around the entries, so that the removal of the last one restores the text. */
export interface Made {
  /** The whole text, when it had no content. */
  readonly root?: string;
  /** The text of the empty container of the servers; `null`: there was none. */
  readonly container?: string | null;
}

/** A changed text. */
export interface EditedText {
  readonly text: string;
  readonly made: Made;
  /** The lines of the entry itself, as written or removed. */
  readonly own: string;
}

/** Why a text cannot be edited. `line` and `column` count from one. Never quotes the text. */
export interface TextFault {
  readonly fault: string;
  readonly line?: number;
  readonly column?: number;
}

/** Edits of one format. Everything outside of the entry stays byte for byte. */
export interface EntryText {
  /** The entries by name. */
  read(text: string): ReadonlyMap<string, Plain> | TextFault;
  /** Adds an entry, or replaces the one of this name. */
  put(text: string, name: string, value: Readonly<Record<string, unknown>>, made: Made): EditedText | TextFault;
  /** Removes an entry; a missing one is no fault. */
  remove(text: string, name: string, made: Made): EditedText | TextFault;
}

/** Whether an edit was refused. */
export function isFault(result: object): result is TextFault {
  return 'fault' in result;
}

/** A fault at an offset of a text. */
export function faultAt(text: string, offset: number, fault: string): TextFault {
  const before = text.slice(0, offset).split('\n');
  return { fault, line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** The line break of a text. */
export function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** Replaces ranges of a text; they do not overlap. */
export function splice(text: string, changes: readonly Change[]): string {
  let result = text;
  for (const { at, end = at, text: fresh } of [...changes].sort((a, b) => b.at - a.at))
    result = result.slice(0, at) + fresh + result.slice(end);
  return result;
}

/** One replaced range. */
export interface Change {
  readonly at: number;
  /** Exclusive. Default: nothing is removed. */
  readonly end?: number;
  readonly text: string;
}

/** Offset of the first character of the line with this offset. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Offset of the end of the line with this offset, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const next = text.indexOf('\n', offset);
  if (next < 0) return text.length;
  return text[next - 1] === '\r' && next - 1 >= offset ? next - 1 : next;
}
