import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import { countTools } from '../report-starts.ts';
import { oneLine, type Style } from './text-line.ts';

/** What one live line shows. */
export interface StartRow {
  readonly name: string;
  readonly state: 'starting' | 'ready' | 'failed';
  readonly seconds: number;
  /** When it is ready. */
  readonly tools?: number | undefined;
  /** Why it failed. */
  readonly cause?: string | undefined;
}

/** How a frame is drawn. */
export interface FrameOptions {
  /** Columns and rows of the terminal. */
  readonly width: number;
  readonly height: number;
  /** Counts frames, for the spinner. */
  readonly tick: number;
  readonly style: Style;
  /** The terminal shows Unicode symbols. */
  readonly hasUnicode: boolean;
}

/** Rows of the terminal that live lines leave free. */
const FREE_ROWS = 2;
/** Live lines on a high terminal. */
export const MAX_LIVE_LINES = 40;
const MAX_NAME_COLUMNS = 32;
const UNICODE = { spinner: [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'], ready: '✔', failed: '✖', cut: '…' };
const ASCII = { spinner: ['-', '\\', '|', '/'], ready: '+', failed: 'x', cut: '~' };

/**
 * The live lines: one per backend, and a summary when there are more backends than lines; then only those that still start are
 * shown. No line is wider than the terminal.
 */
export function startFrame(rows: readonly StartRow[], options: FrameOptions): readonly string[] {
  const { width, height, hasUnicode } = options;
  const signs = hasUnicode ? UNICODE : ASCII;
  const fits = Math.max(1, Math.min(height - FREE_ROWS, MAX_LIVE_LINES));
  const isWhole = rows.length <= fits;
  const starting = rows.filter(({ state }) => state === 'starting');
  const shown = isWhole ? rows : starting.slice(0, fits - 1);
  const names = shown.map(({ name }) => cut(oneLine(name), MAX_NAME_COLUMNS, signs.cut));
  const column = Math.max(0, ...names.map((name) => stringWidth(name)));
  const lines = shown.map((row, at) => {
    const name = names[at] ?? '';
    return rowLine(row, name + ' '.repeat(column - stringWidth(name)), options);
  });
  if (!isWhole) lines.push(summaryLine(rows, starting.length - shown.length));
  return lines.map((line) => cut(line, width - 1, signs.cut));
}

function rowLine({ state, seconds, tools, cause }: StartRow, name: string, options: FrameOptions): string {
  const { style, tick, hasUnicode } = options;
  const signs = hasUnicode ? UNICODE : ASCII;
  if (state === 'ready') {
    return `${style.green(signs.ready)} ${name}  ready${tools === undefined ? '' : `, ${countTools(tools)}`}`;
  }
  if (state === 'failed') return `${style.red(signs.failed)} ${name}  ${style.red(oneLine(cause ?? 'no answer yet'))}`;
  const spinner = signs.spinner[tick % signs.spinner.length];
  return `${style.yellow(spinner ?? '')} ${name}  ${style.dim(`starting, ${seconds} s`)}`;
}

function summaryLine(rows: readonly StartRow[], notShown: number): string {
  const count = (state: StartRow['state']) => rows.filter((row) => row.state === state).length;
  const failed = count('failed');
  return [
    `${count('ready')} of ${rows.length} ready`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    `${count('starting')} starting${notShown > 0 ? ` (${notShown} not shown)` : ''}`,
  ].join(', ');
}

/** A text of at most so many columns; the end is replaced by `sign`. */
export function cut(text: string, columns: number, sign = UNICODE.cut): string {
  const most = Math.max(1, columns);
  return stringWidth(text) <= most ? text : `${sliceAnsi(text, 0, most - 1)}${sign}`;
}
