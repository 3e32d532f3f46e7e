import type { JsonObject } from '@toolmgr/core';
import type { LogName } from './text-line.ts';

/** A line about one backend. */
export interface LogLine {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly backend: string;
  /** `output`: its program wrote the line to stderr. Otherwise the level of our line about it. */
  readonly level: Exclude<LogName, 'silent'> | 'output';
  readonly message: string;
  /** The fields of our line. */
  readonly fields?: JsonObject;
}

/** Lines stored per backend; the oldest are dropped first. */
export const MAX_LINES = 500;
/** Characters stored per backend. */
export const MAX_CHARS = 65_536;
/** Characters stored of one line. */
export const MAX_LINE_CHARS = 4_096;
/** Backends with stored lines; the one without news for the longest time is dropped first. */
export const MAX_BACKENDS = 256;
/** Lines that wait for a follower that reads slowly; the oldest are dropped first. */
export const MAX_WAITING = 1_000;

/** The last lines of each backend. */
export interface LineMemory {
  add(line: LogLine): void;
  /** The last `lines` lines of a backend, oldest first. */
  of(backend: string, lines: number): readonly LogLine[];
  /** What is added from now on, until `signal` aborts or the memory is closed. */
  follow(backend: string, signal: AbortSignal): AsyncIterableIterator<LogLine>;
  close(): void;
}

interface Kept {
  readonly lines: LogLine[];
  chars: number;
}

interface Follower {
  readonly backend: string;
  readonly waiting: LogLine[];
  dropped: number;
  wake: () => void;
}

/** A memory with the bounds above. */
export function createLineMemory(): LineMemory {
  const kept = new Map<string, Kept>();
  const followers = new Set<Follower>();
  let isClosed = false;
  return {
    add(given) {
      if (isClosed) return;
      const line = cut(given);
      const own = kept.get(line.backend) ?? { lines: [], chars: 0 };
      kept.delete(line.backend); // a map lists its keys in the order in which they were set
      kept.set(line.backend, own);
      own.lines.push(line);
      own.chars += charsOf(line);
      while (own.lines.length > MAX_LINES || own.chars > MAX_CHARS) own.chars -= charsOf(own.lines.shift());
      if (kept.size > MAX_BACKENDS) kept.delete(kept.keys().next().value ?? '');
      for (const follower of followers) if (follower.backend === line.backend) pass(follower, line);
    },
    of: (backend, lines) => (lines <= 0 ? [] : (kept.get(backend)?.lines.slice(-lines) ?? [])),
    follow(backend, signal) {
      const follower: Follower = { backend, waiting: [], dropped: 0, wake: () => {} };
      if (!isClosed && !signal.aborted) followers.add(follower);
      return linesOf(follower, signal, followers);
    },
    close() {
      isClosed = true;
      const ended = [...followers];
      followers.clear();
      for (const { wake } of ended) wake();
    },
  };
}

function pass(follower: Follower, line: LogLine): void {
  follower.waiting.push(line);
  if (follower.waiting.length > MAX_WAITING) {
    follower.waiting.shift();
    follower.dropped++;
  }
  follower.wake();
}

async function* linesOf(
  follower: Follower,
  signal: AbortSignal,
  followers: Set<Follower>,
): AsyncGenerator<LogLine, void, undefined> {
  const wake = (): void => follower.wake();
  signal.addEventListener('abort', wake);
  try {
    for (;;) {
      const next = follower.waiting[0];
      if (follower.dropped > 0 && next !== undefined) {
        const { time, backend } = next;
        const message = `${follower.dropped} lines were left out, because they were read too slowly`;
        follower.dropped = 0;
        yield { time, backend, level: 'warn', message };
      } else if (next !== undefined) {
        follower.waiting.shift();
        yield next;
      } else if (signal.aborted || !followers.has(follower)) return;
      else await new Promise<void>((resolve) => (follower.wake = resolve));
    }
  } finally {
    signal.removeEventListener('abort', wake);
    followers.delete(follower);
  }
}

function cut(line: LogLine): LogLine {
  if (charsOf(line) <= MAX_LINE_CHARS) return line;
  const { fields: _, ...rest } = line;
  return { ...rest, message: `${copy(line.message.slice(0, MAX_LINE_CHARS - 1))}…` };
}

/** A slice keeps the whole string in memory. */
function copy(slice: string): string {
  return Buffer.from(slice).toString();
}

function charsOf(line: LogLine | undefined): number {
  if (line === undefined) return 0;
  return line.message.length + (line.fields === undefined ? 0 : JSON.stringify(line.fields).length);
}
