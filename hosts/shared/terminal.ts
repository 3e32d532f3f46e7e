import { styleText } from 'node:util';

/** Writes lines to one stream, with colour only on a terminal. */
export interface Terminal {
  line(text?: string): void;
  /** A value as indented JSON. */
  json(value: unknown): void;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  readonly isTty: boolean;
}

/**
 * Wraps a stream. A line for a TTY has nothing but text and colours, whatever server, container or registry it is from.
 */
export function createTerminal(
  stream: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
  env: NodeJS.ProcessEnv = process.env,
): Terminal {
  const isTty = stream.isTTY === true;
  const colours = hasColours(isTty, env);
  const style = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    colours ? styleText(format, text, { validateStream: false }) : text;
  const line = (text = '') => void stream.write(`${isTty ? harmless(text) : text}\n`);
  return {
    line,
    json: (value) => line(JSON.stringify(value, undefined, 2)),
    bold: style('bold'),
    dim: style('dim'),
    red: style('red'),
    green: style('green'),
    yellow: style('yellow'),
    isTty,
  };
}

/**
 * No colour with `NO_COLOR` set to anything, or `FORCE_COLOR` to `0` or `false`. Any other `FORCE_COLOR` is colour everywhere;
 * without it a TTY has colour, unless `TERM` is `dumb`.
 */
function hasColours(isTty: boolean, { NO_COLOR = '', FORCE_COLOR = '', TERM }: NodeJS.ProcessEnv): boolean {
  if (NO_COLOR !== '' || FORCE_COLOR === '0' || FORCE_COLOR === 'false') return false;
  return FORCE_COLOR !== '' || (isTty && TERM !== 'dumb');
}

/** For results. */
export const stdout = createTerminal(process.stdout);
/** For progress, notes and errors. */
export const stderr = createTerminal(process.stderr);

/** Removes control characters, which could move the cursor or change the terminal's state, from foreign text. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

/**
 * Foreign text that may be coloured: removes everything else that changes a terminal, such as moving the cursor, setting the
 * title or the clipboard, and characters that reorder text.
 */
export function harmless(text: string): string {
  return text.replace(CHANGES_TERMINAL, '');
}

const CHANGES_TERMINAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  /\u001b(?!\[[0-9;]{0,32}m)|\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Lines with aligned columns; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[], indent = ''): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    `${indent}${row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  ')}`.trimEnd(),
  );
}
