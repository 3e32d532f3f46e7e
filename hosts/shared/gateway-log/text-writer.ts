import { createRepeats } from './repeats.ts';
import { type LogEntry, type Style, textLine } from './text-line.ts';

/** Messages about a backend that the end of its stderr explains. */
const FAILURES: ReadonlySet<string> = new Set(['backend process ended', 'backend unavailable']);

/** What a writer needs. */
export interface TextWriterOptions {
  readonly write: (line: string) => void;
  readonly style: Style;
  readonly now: () => number;
  /** The last lines of stderr of a backend that were not printed yet. */
  readonly words: (backend: string) => readonly string[];
}

/** Writes lines for people; a line that is repeated within a minute is counted. */
export function createTextWriter({ write, style, now, words }: TextWriterOptions): {
  print(entry: LogEntry): void;
  flush(): void;
} {
  const repeats = createRepeats(({ level, message, fields }, more) => {
    const counted = { ...(fields?.backend === undefined ? {} : { backend: fields.backend }) };
    write(`${textLine({ atMs: now(), level, message: `${message} ${more}`, fields: counted }, style)}\n`);
  }, now);
  return {
    print(entry) {
      const backend = FAILURES.has(entry.message) ? entry.fields?.backend : undefined;
      const said = typeof backend === 'string' ? words(backend) : [];
      if (repeats.isNew(entry)) write(`${textLine(entry, style, said)}\n`);
    },
    flush: repeats.flush,
  };
}
