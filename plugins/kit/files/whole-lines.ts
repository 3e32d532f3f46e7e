const LF = 0x0a;

/** The beginning of a longer line is passed on as it is. */
const MAX_LINE_BYTES = 16_384;

/** Takes the output of one program in pieces. */
export interface WholeLines {
  add(chunk: Buffer): void;
  /** The program has ended: passes on the last line, with a line end. */
  end(): void;
}

/** Passes on whole lines only, so that several programs can write to one log without mixing their lines. */
export function wholeLines(write: (lines: Buffer) => void): WholeLines {
  let rest: Buffer = Buffer.alloc(0);
  return {
    add(chunk) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = all.lastIndexOf(LF) + 1;
      const end = all.length - whole > MAX_LINE_BYTES ? all.length : whole;
      if (end > 0) write(all.subarray(0, end));
      rest = Buffer.from(all.subarray(end)); // not a part of a larger buffer
    },
    end() {
      if (rest.length > 0) write(Buffer.concat([rest, Buffer.from([LF])]));
      rest = Buffer.alloc(0);
    },
  };
}
