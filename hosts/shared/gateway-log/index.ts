import { createLog, type JsonObject, LOG_NAMES, type Log, type LogName } from '@toolmgr/core';
import { createLineMemory, type LogLine } from './line-memory.ts';

export type { LogLine } from './line-memory.ts';

/** Options of {@link createGatewayLog}. */
export interface GatewayLogOptions {
  readonly level: LogName;
  /** Default: stderr. */
  readonly stream?: Pick<NodeJS.WriteStream, 'write'> & Partial<NodeJS.WriteStream>;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** The log of a host, with a bounded memory of the last lines of each backend. */
export interface GatewayLog {
  /** For `createGateway`: lines of the host and of the gateway, and stderr of programs, which is only stored. */
  readonly log: Log;
  /** Changes the level of `log`. */
  setLevel(level: LogName): void;
  /** The last `lines` lines of a backend, oldest first: its stderr, and our lines at or above the level. */
  of(backend: string, lines: number): readonly LogLine[];
  /** The lines of a backend from this call on, until `signal` aborts or the log is closed. */
  follow(backend: string, signal: AbortSignal): AsyncIterable<LogLine>;
  /** Ends followers. Lines that are logged later are still written. */
  close(): void;
}

type Level = Exclude<LogName, 'silent'>;

/** Makes the log of a host. */
export function createGatewayLog(options: GatewayLogOptions): GatewayLog {
  const { stream = process.stderr, now = Date.now } = options;
  const memory = createLineMemory();
  let current = createLog(options.level, (line) => void stream.write(line), now);
  let threshold = LOG_NAMES.indexOf(options.level);
  const at =
    (level: Level, rank = LOG_NAMES.indexOf(level)) =>
    (message: string, fields?: JsonObject): void => {
      if (rank < threshold) return;
      current[level](message, fields);
      const backend = fields?.backend;
      if (typeof backend !== 'string') return;
      const time = new Date(now()).toISOString();
      memory.add({ time, backend, level, message, ...(fields === undefined ? {} : { fields }) });
    };
  return {
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
      current = createLog(level, (line) => void stream.write(line), now);
    },
    of: memory.of,
    follow: memory.follow,
    close: memory.close,
  };
}
