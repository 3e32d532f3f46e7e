import type { Readable } from 'node:stream';

/** A line over the limit; its bytes were discarded. */
export const TOO_LONG = Symbol('a line over the limit');

/**
 * Yields the lines of a stream without their line ends; empty lines are left out. A last line without a line end is yielded
 * too.
 *
 * Shape: a line of more than `mostBytes` is {@link TOO_LONG}; its bytes are not kept. The stream is read only as fast as
 * lines are taken.
 */
export async function* readLines(
  input: Readable | AsyncIterable<Buffer>,
  mostBytes: number,
): AsyncGenerator<Buffer | typeof TOO_LONG> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const take = (): Buffer | typeof TOO_LONG | undefined => {
    const line = bytes > mostBytes ? TOO_LONG : withoutReturn(Buffer.concat(pieces, bytes));
    pieces = [];
    bytes = 0;
    return line === TOO_LONG || line.length > 0 ? line : undefined;
  };
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line !== undefined) yield line;
    }
    add(chunk.subarray(start));
  }
  const last = take();
  if (last !== undefined) yield last;

  function add(piece: Buffer): void {
    bytes += piece.length;
    if (bytes > mostBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
