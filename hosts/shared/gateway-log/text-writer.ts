import { createRepeats } from './repeats.ts';
import { type LogEntry, reasonsOf, type Style, textLine } from './text-line.ts';

/** The line of a program that ended. */
export const ENDED = 'backend process ended';
/** Messages about a backend that the end of its stderr explains. */
export const FAILURES: ReadonlySet<string> = new Set([ENDED, 'backend is unavailable', 'backend unavailable']);
/** A backend whose program ended is unavailable at once; its line would repeat the reason. */
const SAME_FAILURE_MS = 2_000;
/** Lines that are held; later ones are printed. */
const MAX_HELD = 256;

/** What a writer needs. */
export interface TextWriterOptions {
  readonly write: (line: string) => void;
  readonly style: Style;
  readonly now: () => number;
  /** The last lines of stderr of a backend that were not printed yet. */
  readonly words: (backend: string) => readonly string[];
}

/** Writes lines for people. */
export interface TextWriter {
  print(entry: LogEntry): void;
  /** Prints the counts of repeated lines, and the held lines. */
  flush(): void;
  /** Keeps lines about failed backends until {@link releaseFailures}: the host shows the failures itself. */
  holdFailures(): void;
  /** The reason in the first held line of a backend. Its held lines are forgotten. */
  failureOf(backend: string): string | undefined;
  /** Prints the lines that are still held. */
  releaseFailures(): void;
}

/** Writes lines for people; a line that is repeated within a minute is counted, and a failure has one line. */
export function createTextWriter({ write, style, now, words }: TextWriterOptions): TextWriter {
  const repeats = createRepeats(({ level, message, fields }, more) => {
    const counted = { ...(fields?.backend === undefined ? {} : { backend: fields.backend }) };
    write(`${textLine({ atMs: now(), level, message: `${message} ${more}`, fields: counted }, style)}\n`);
  }, now);
  const endedAtMs = new Map<string, number>();
  let held: Map<string, LogEntry[]> | undefined;
  let heldCount = 0;

  const isRepeated = ({ atMs, message }: LogEntry, backend: string): boolean => {
    if (message === ENDED) {
      endedAtMs.set(backend, atMs);
      return false;
    }
    const beforeMs = endedAtMs.get(backend);
    endedAtMs.delete(backend);
    return beforeMs !== undefined && atMs - beforeMs <= SAME_FAILURE_MS;
  };
  const hold = (entry: LogEntry, backend: string): boolean => {
    if (held === undefined || heldCount >= MAX_HELD) return false;
    heldCount++;
    held.set(backend, [...(held.get(backend) ?? []), entry]);
    return true;
  };
  const show = (entry: LogEntry, said: readonly string[]): void => {
    if (repeats.isNew(entry)) write(`${textLine(entry, style, said)}\n`);
  };
  const releaseFailures = (): void => {
    const entries = held ?? new Map<string, LogEntry[]>();
    held = undefined;
    heldCount = 0;
    for (const [backend, lines] of entries) for (const entry of lines) show(entry, words(backend));
  };
  return {
    print(entry) {
      const backend = FAILURES.has(entry.message) ? entry.fields?.backend : undefined;
      if (typeof backend !== 'string') return show(entry, []);
      if (!isRepeated(entry, backend) && !hold(entry, backend)) show(entry, words(backend));
    },
    flush() {
      releaseFailures();
      repeats.flush();
    },
    holdFailures() {
      held ??= new Map();
    },
    failureOf(backend) {
      const [first] = held?.get(backend) ?? [];
      held?.delete(backend);
      if (first !== undefined) repeats.isNew(first); // the host prints it now, so the same line is a repeated one
      return first && reasonsOf(first.fields);
    },
    releaseFailures,
  };
}
