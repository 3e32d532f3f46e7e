import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** The end of a log, and where it ends in its file. */
export interface LogTail {
  readonly text: string;
  readonly end: number;
}

/** Bytes of one tail: a log with longer lines shows fewer of them. */
export const MAX_TAIL_BYTES = 4 * 1024 * 1024;

/**
 * The last lines of a log and of its predecessor `PATH.1`. Reads backwards, and at most {@link MAX_TAIL_BYTES}; no log is an empty one.
 */
export async function tailLog(path: string, lines: number, maxBytes = MAX_TAIL_BYTES): Promise<LogTail> {
  const last = await lastPart(path, lines, maxBytes);
  const missing = lines - countLines(last.text);
  const left = maxBytes - Buffer.byteLength(last.text);
  if (missing <= 0 || left <= 0 || !last.isWhole) return { text: last.text, end: last.end };
  const before = await lastPart(`${path}.1`, missing, left);
  return { text: before.text + last.text, end: last.end };
}

async function lastPart(path: string, lines: number, maxBytes: number) {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return { text: '', end: 0, isWhole: true };
  try {
    const { size } = await file.stat();
    const chunks: Buffer[] = [];
    let start = size;
    let breaks = 0;
    while (start > 0 && size - start < maxBytes && breaks <= lines) {
      const length = Math.min(CHUNK_BYTES, start, maxBytes - (size - start));
      start -= length;
      const chunk = await readAt(file, start, length);
      for (const byte of chunk) if (byte === NEW_LINE) breaks++;
      chunks.unshift(chunk);
    }
    const whole = Buffer.concat(chunks);
    const text = fromLine(whole, lines, start > 0);
    return { text, end: size, isWhole: start === 0 };
  } finally {
    await file.close();
  }
}

/** The last lines of some bytes; a cut first line is left out. */
function fromLine(bytes: Buffer, lines: number, isCut: boolean): string {
  let from = bytes.length;
  let wanted = lines + (bytes.at(-1) === NEW_LINE ? 1 : 0);
  while (wanted > 0 && from > 0) {
    from = bytes.lastIndexOf(NEW_LINE, from - 1);
    if (from < 0) break;
    wanted--;
  }
  if (wanted === 0) return bytes.toString('utf8', from + 1);
  if (!isCut) return bytes.toString();
  const first = bytes.indexOf(NEW_LINE);
  return first < 0 ? '' : bytes.toString('utf8', first + 1);
}

async function readAt(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/**
 * What is appended to a log after `from`, until `signal` aborts or `isOver` says that there will be no more. Reads the next part when
 * the last one was taken. A log that was emptied is read from its beginning.
 */
export async function* followLog(
  path: string,
  from: number,
  signal: AbortSignal,
  isOver: () => Promise<boolean>,
): AsyncGenerator<string> {
  let at = from;
  const decoder = new TextDecoder();
  while (!signal.aborted) {
    const size = (await stat(path).catch(() => undefined))?.size ?? 0;
    if (size < at) at = 0;
    if (size === at) {
      if (await isOver()) return;
      await delay(POLL_MS, undefined, { signal }).catch(() => {});
      continue;
    }
    const file = await open(path, 'r').catch(() => undefined);
    if (file === undefined) continue;
    let bytes: Buffer;
    try {
      bytes = await readAt(file, at, Math.min(CHUNK_BYTES, size - at));
    } finally {
      await file.close();
    }
    at += bytes.length;
    const text = decoder.decode(bytes, { stream: true });
    if (text !== '') yield text;
  }
}

function countLines(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

const NEW_LINE = 0x0a;
const CHUNK_BYTES = 64 * 1024;
const POLL_MS = 250;
