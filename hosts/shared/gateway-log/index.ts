import { createLog, type JsonObject, LOG_NAMES, type Log } from '@toolmgr/core';
import { createTerminal } from '../terminal.ts';
import { createLineMemory, type LogLine, MAX_BACKENDS, MAX_LINES } from './line-memory.ts';
import { chooseFormat, type LogFormat } from './log-format.ts';
import { createRepeats } from './repeats.ts';
import type { LogName } from './text-line.ts';
import { createTextWriter, ENDED, FAILURES } from './text-writer.ts';

export type { LogLine } from './line-memory.ts';
export type { LogFormat } from './log-format.ts';

/** Options of {@link createGatewayLog}. */
export interface GatewayLogOptions {
  readonly level: LogName;
  /** Default: `text` on a terminal, else `json`. */
  readonly format?: LogFormat | undefined;
  /** Default: stderr. */
  readonly stream?: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  readonly env?: NodeJS.ProcessEnv;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** The log of a host, with a bounded memory of the last lines of each backend. */
export interface GatewayLog extends Disposable {
  /** For `createGateway`: lines of the host and of the gateway, and stderr of programs, which is only stored. */
  readonly log: Log;
  readonly format: LogFormat;
  /** Changes the level of `log`. */
  setLevel(level: LogName): void;
  /** The last `lines` lines of a backend, oldest first: its stderr, and our lines at or above the level. */
  of(backend: string, lines: number): readonly LogLine[];
  /** The lines of a backend from this call on, until `signal` aborts or the log is closed. */
  follow(backend: string, signal: AbortSignal): AsyncIterable<LogLine>;
  /** The last lines of stderr of a backend that were not printed yet. */
  lastWords(backend: string): readonly string[];
  /** Lines for people about failed backends are kept until `releaseFailures`. JSON lines are always written at once. */
  holdFailures(): void;
  /** The reason in the held lines of a backend, which are forgotten. */
  failureOf(backend: string): string | undefined;
  /** Prints the lines that are still held. */
  releaseFailures(): void;
  /** Prints the held lines and the counts of repeated lines, and ends followers. Lines that are logged later are still written. */
  close(): void;
}

type Level = Exclude<LogName, 'silent'>;

/** Makes the log of a host. */
export function createGatewayLog(options: GatewayLogOptions): GatewayLog {
  const { stream = process.stderr, env = process.env, now = Date.now } = options;
  const memory = createLineMemory();
  const json = createLog('debug', (line) => void stream.write(line), now);
  const words = createLastWords(memory.of);
  const format = chooseFormat(options.format, stream);
  const text =
    format === 'text'
      ? createTextWriter({ write: (line) => void stream.write(line), style: createTerminal(stream, env), now, words })
      : undefined;
  /** Of JSON lines only those about a program that fails again and again. */
  const repeats = createRepeats(({ level, message, fields = {} }, more) => {
    const { backend = '' } = fields;
    json[level](`${message} ${more}`, { backend });
  }, now);
  let threshold = LOG_NAMES.indexOf(options.level);
  const at =
    (level: Level, rank = LOG_NAMES.indexOf(level)) =>
    (message: string, fields?: JsonObject): void => {
      if (rank < threshold) return;
      const atMs = now();
      const backend = fields?.backend;
      if (typeof backend === 'string') {
        const time = new Date(atMs).toISOString();
        memory.add({ time, backend, level, message, ...(fields === undefined ? {} : { fields }) });
      }
      if (text !== undefined) text.print({ atMs, level, message, fields });
      else if (!FAILURES.has(message) || repeats.isNew({ atMs, level, message, fields })) json[level](message, fields);
    };
  const close = (): void => {
    text?.flush();
    repeats.flush();
    memory.close();
  };
  return {
    format,
    log: {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      programLine: (backend, message) =>
        memory.add({ time: new Date(now()).toISOString(), backend, level: 'output', message }),
    },
    setLevel(level) {
      threshold = LOG_NAMES.indexOf(level);
    },
    of: memory.of,
    follow: memory.follow,
    lastWords: words,
    holdFailures: () => text?.holdFailures(),
    failureOf: (backend) => text?.failureOf(backend),
    releaseFailures: () => text?.releaseFailures(),
    close,
    [Symbol.dispose]: close,
  };
}

/** Lines of stderr below the line that says why a program ended. */
const LAST_WORDS = 5;

/** The lines of the last run of a program, unless they were shown before: a restart mostly says the same again. */
function createLastWords(of: GatewayLog['of']): (backend: string) => readonly string[] {
  const shown = new Map<string, string>();
  return (backend) => {
    const words = wordsOfLastRun(of(backend, MAX_LINES));
    const text = words.join('\n');
    if (shown.get(backend) === text) return [];
    if (shown.size >= MAX_BACKENDS) shown.clear();
    shown.set(backend, text);
    return words;
  };
}

/** None where the line about the end has an empty stderr, because it says all. A line that was said before belongs to an earlier run. */
function wordsOfLastRun(lines: readonly LogLine[]): readonly string[] {
  const isEnd = ({ level, message }: LogLine): boolean => level !== 'output' && message === ENDED;
  const end = lines.findLastIndex(isEnd);
  if (end >= 0 && lines[end]?.fields?.stderr === '') return [];
  const begin = lines.slice(0, Math.max(end, 0)).findLastIndex(isEnd) + 1;
  const words = new Set<string>();
  for (const { level, message } of lines.slice(begin).toReversed()) {
    if (level !== 'output') continue;
    if (words.has(message) || words.size >= LAST_WORDS) break;
    words.add(message);
  }
  return [...words].reverse();
}
