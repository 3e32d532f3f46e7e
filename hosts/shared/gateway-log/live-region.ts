import { createLogUpdate } from 'log-update';
import stringWidth from 'string-width';

/** Lines at the bottom of a terminal that are replaced again and again. */
export interface LiveRegion {
  /** Shows these lines instead of the previous ones; none hides the region. */
  show(lines: readonly string[]): void;
  /** Hides the lines and ends the region. */
  close(): void;
}

/** Time between two drawings after other output. */
const REDRAW_MS = 30;
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

/**
 * A live region on `stream`. While it has lines, what this process writes to `stream` and to the terminals in `others` goes above
 * them: the lines are removed, the output is written, and the lines are drawn again. The cursor is hidden meanwhile and shown
 * again when the lines are hidden and when the process exits.
 */
export function openLiveRegion(stream: NodeJS.WriteStream, others: readonly NodeJS.WriteStream[] = []): LiveRegion {
  const write = stream.write;
  const raw = (text: string): boolean => write.call(stream, text);
  const update = createLogUpdate(fixedWrite(stream, raw), { showCursor: true });
  let lines: readonly string[] = [];
  let isDrawn = false;
  let isAtLineStart = true;
  let drawnMs = 0;
  let redraw: NodeJS.Timeout | undefined;
  let release: (() => void) | undefined;

  const draw = (): void => {
    clearTimeout(redraw);
    redraw = undefined;
    if (lines.length === 0 || !isAtLineStart) return;
    update(lines.join('\n'));
    isDrawn = true;
    drawnMs = performance.now();
  };
  const erase = (): void => {
    if (isDrawn) update.clear();
    isDrawn = false;
  };
  const onOutput = (chunk: unknown): void => {
    isAtLineStart = endsLine(chunk) ?? isAtLineStart;
    if (performance.now() - drawnMs >= REDRAW_MS) draw();
    else redraw ??= setTimeout(draw, REDRAW_MS).unref();
  };
  // the terminal has wrapped lines that are wider than it is now
  const onResize = (): void => {
    if (!isDrawn) return;
    raw(`\u001b[${rowsOf(lines, stream.columns)}A\r\u001b[0J`);
    update.done();
    isDrawn = false;
  };
  const onExit = (): void => {
    erase();
    raw(SHOW_CURSOR);
  };
  const take = (): (() => void) => {
    const streams = new Set([stream, ...others.filter(({ isTTY }) => isTTY)]); // stdout may be stderr
    const given = [...streams].map((each) => writeAround(each, erase, onOutput));
    stream.on('resize', onResize);
    process.once('exit', onExit);
    raw(HIDE_CURSOR);
    return () => {
      for (const giveBack of given) giveBack();
      stream.off('resize', onResize);
      process.off('exit', onExit);
      raw(SHOW_CURSOR);
    };
  };
  const show = (next: readonly string[]): void => {
    lines = next;
    if (next.length > 0) {
      release ??= take();
      return draw();
    }
    clearTimeout(redraw);
    redraw = undefined;
    erase();
    release?.();
    release = undefined;
  };
  return { show, close: () => show([]) };
}

/** The stream as `log-update` needs it: its output does not go above itself. */
function fixedWrite(stream: NodeJS.WriteStream, write: (text: string) => boolean): NodeJS.WritableStream {
  const size = {
    isTTY: true,
    get columns() {
      return stream.columns || undefined;
    },
    get rows() {
      return stream.rows || undefined;
    },
  };
  return Object.assign(Object.create(null, Object.getOwnPropertyDescriptors(size)), { write });
}

/** Calls `before` and `after` around each write to a stream, until the result is called. */
function writeAround(stream: NodeJS.WriteStream, before: () => void, after: (chunk: unknown) => void): () => void {
  const given = stream.write;
  const around = function (this: unknown, ...all: unknown[]): boolean {
    before();
    const isTaken = Reflect.apply(given, stream, all) as boolean;
    after(all[0]);
    return isTaken;
  } as typeof stream.write;
  stream.write = around;
  return () => {
    if (stream.write === around) stream.write = given;
  };
}

/** Whether the cursor is at the start of a line after this output; `undefined` for none. */
function endsLine(chunk: unknown): boolean | undefined {
  if (typeof chunk === 'string') return chunk === '' ? undefined : chunk.endsWith('\n');
  if (!(chunk instanceof Uint8Array)) return undefined;
  return chunk.length === 0 ? undefined : chunk[chunk.length - 1] === 0x0a;
}

/** Rows of a terminal that these lines take. */
function rowsOf(lines: readonly string[], columns = 80): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / Math.max(1, columns))), 0);
}
