/** Bytes of lines that are not written yet, and how many events they tell. */
export interface Batch {
  readonly bytes: Buffer;
  readonly events: number;
}

/** Lines that wait to be written. */
export interface LinePages {
  readonly bytes: number;
  readonly events: number;
  /** `events`: 0 for a line that tells of none. */
  add(line: string, events?: number): void;
  /** The oldest lines, at most a page of them; `undefined` when none wait. Their bytes are good until `done`. */
  take(): Batch | undefined;
  /** What was taken is written. */
  done(batch: Batch): void;
}

const PAGE_BYTES = 262_144;
/** UTF-8 takes at most this for each unit of a JavaScript string. */
const MOST_BYTES_PER_UNIT = 3;

interface Page {
  readonly buffer: Buffer;
  used: number;
  events: number;
}

/**
 * Lines as bytes outside the heap, in few large pages. As strings or objects they would wait there for some collections:
 * each would copy them, and most would end in the old generation.
 */
export function createLinePages(): LinePages {
  const full: Page[] = [];
  let spare: Page | undefined;
  let page = newPage(PAGE_BYTES);
  let bytes = 0;
  let events = 0;

  const turn = (needed: number): void => {
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
    add(line, told = 1) {
      const most = line.length * MOST_BYTES_PER_UNIT;
      if (most > page.buffer.length - page.used) turn(most);
      const written = page.buffer.write(line, page.used);
      page.used += written;
      page.events += told;
      bytes += written;
      events += told;
    },
    take() {
      if (full.length === 0) {
        if (page.used === 0) return undefined;
        turn(0);
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

/** A page of its own memory, not of the pool that Node keeps for small buffers. */
function newPage(size: number): Page {
  return { buffer: Buffer.allocUnsafeSlow(size), used: 0, events: 0 };
}
