import type { RawJson } from '../contract/json.ts';

/** Headers of every event stream: intermediaries must not buffer, store or change it. */
export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** A comment line that keeps the connection alive. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

/**
 * One server-sent event with a JSON-RPC message, in pieces: the message is not copied.
 *
 * Shape: `id:` if there is one, `event: message`, then the message as `data:`. Line breaks inside the message (white
 * space of a pretty-printed result) become several data lines, which the reader joins again.
 * Source: HTML living standard, server-sent events.
 */
export function eventFrame(parts: readonly RawJson[], id?: string): readonly Buffer[] {
  const head = id === undefined ? PLAIN_HEAD : Buffer.from(`id: ${id}\nevent: message\ndata: `);
  return [head, ...(parts.some(hasLineBreak) ? [dataLines(parts)] : parts), END];
}

/** The first event of a resumable stream: an id to resume with, no message, and the retry time (SEP-1699). */
export function primingFrame(id: string, retryMs: number): Buffer {
  return Buffer.from(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
}

const PLAIN_HEAD = Buffer.from('event: message\ndata: ');
const END = Buffer.from('\n\n');
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

function hasLineBreak(part: RawJson): boolean {
  return part.includes(LINE_FEED) || part.includes(CARRIAGE_RETURN);
}

/** Raw line breaks in JSON are white space between tokens, never inside strings. */
function dataLines(parts: readonly RawJson[]): Buffer {
  return Buffer.from(
    Buffer.concat(parts)
      .toString('utf8')
      .replaceAll(/\r\n|\r|\n/g, '\ndata: '),
  );
}
