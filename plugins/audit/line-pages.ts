/** Bytes of unwritten lines, and the number of their events. */
export interface Batch {
  readonly bytes: Buffer;
  readonly events: number;
}

/** A buffer of unwritten lines. */
export interface LinePages {
  readonly bytes: number;
  readonly events: number;
  /** `events` is 0 for a line without an event. */
  add(line: string, events?: number): void;
  /** The oldest lines, at most one page; `undefined` when there are none. The bytes are valid until `done`. */
  take(): Batch | undefined;
  /** Releases a written batch. */
  done(batch: Batch): void;
}

const PAGE_BYTES = 262_144;
/** Maximum UTF-8 bytes per UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;

interface Page {
  readonly buffer: Buffer;
  used: number;
  events: number;
}

/**
 * Keeps lines as bytes in a few large pages outside the JavaScript heap. As strings, several garbage collections would copy
 * them, and most would reach the old generation.
 */
export function createLinePages(): LinePages {
  const full: Page[] = [];
  let spare: Page | undefined;
  let page = newPage(PAGE_BYTES);
  let bytes = 0;
  let events = 0;

  const nextPage = (needed: number): void => {
    if (page.used > 0) full.push(page);
    page = needed <= PAGE_BYTES && spare !== undefined ? spare : newPage(Math.max(PAGE_BYTES, needed));
    if (page === spare) spare = undefined;
  };

  return {
    get bytes() {
      return bytes;
    },
    get events() {
      return events;
    },
    add(line, eventCount = 1) {
      const most = line.length * MOST_BYTES_PER_UNIT;
      if (most > page.buffer.length - page.used) nextPage(most);
      const written = page.buffer.write(line, page.used);
      page.used += written;
      page.events += eventCount;
      bytes += written;
      events += eventCount;
    },
    take() {
      if (full.length === 0) {
        if (page.used === 0) return undefined;
        nextPage(0);
      }
      const oldest = full.shift() as Page;
      bytes -= oldest.used;
      events -= oldest.events;
      return { bytes: oldest.buffer.subarray(0, oldest.used), events: oldest.events };
    },
    done(batch) {
      if (batch.bytes.buffer.byteLength !== PAGE_BYTES) return;
      spare ??= { buffer: Buffer.from(batch.bytes.buffer), used: 0, events: 0 };
    },
  };
}

/** A page with its own memory, not from Node's buffer pool. */
function newPage(size: number): Page {
  return { buffer: Buffer.allocUnsafeSlow(size), used: 0, events: 0 };
}
