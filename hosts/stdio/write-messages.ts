import type { Writable } from 'node:stream';
import type { Gateway } from '@toolmgr/core';

type MessageClient = Parameters<Gateway['connect']>[0];

/** Writes JSON-RPC messages, one per line. */
export interface MessageWriter extends MessageClient {
  /** Resolves when the reader has taken enough, or the writer has ended. */
  belowMark(): Promise<void>;
  /** Resolves when everything was written, or the writer has ended. */
  flushed(): Promise<void>;
  /** Aborted when the reader is gone, or reads so slowly that `mostBytes` wait. */
  readonly ended: AbortSignal;
  /** It ended because the reader was too slow. */
  readonly isTooSlow: boolean;
}

/** Limits of what waits for a slow reader. */
export interface WriterLimits {
  /** Over it `belowMark` waits. */
  readonly highBytes: number;
  /** Over it the writer ends. */
  readonly mostBytes: number;
}

/** Writes to `output`, which nothing else may write to. */
export function createMessageWriter(output: Writable, { highBytes, mostBytes }: WriterLimits): MessageWriter {
  const end = new AbortController();
  let isTooSlow = false;
  const listeners = new Set<() => void>();
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const each of waiting) each();
    waiting.clear();
  };
  output.on('drain', () => {
    for (const each of listeners) each();
    wake();
  });
  const gone = (why: string): void => {
    if (end.signal.aborted) return;
    end.abort(new Error(why));
    listeners.clear();
    wake();
  };
  output.on('error', () => gone('the client closed its end'));
  output.on('close', () => gone('the client closed its end'));
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!end.signal.aborted && !isDone()) await new Promise<void>((resolve) => waiting.add(resolve));
  };
  return {
    write(message) {
      if (end.signal.aborted) return false;
      if (output.writableLength > mostBytes) {
        isTooSlow = !end.signal.aborted;
        gone(`the client reads too slowly: over ${mostBytes} bytes wait`);
        return false;
      }
      output.cork();
      for (const part of message) output.write(inOneLine(part));
      const mayContinue = output.write('\n');
      output.uncork();
      return mayContinue;
    },
    onDrain(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    belowMark: () => until(() => output.writableLength <= highBytes),
    flushed: () => until(() => output.writableLength === 0),
    ended: end.signal,
    get isTooSlow() {
      return isTooSlow;
    },
    get pendingBytes() {
      return output.writableLength;
    },
  };
}

/** Raw line breaks in JSON are white space between tokens, never inside strings. */
function inOneLine(message: Buffer): Buffer {
  if (!message.includes(LINE_FEED) && !message.includes(CARRIAGE_RETURN)) return message;
  return Buffer.from(message.map((byte) => (byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte)));
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
