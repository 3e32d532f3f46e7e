/** Which of a container's two outputs a piece belongs to. */
export type OutputKind = 'stdout' | 'stderr';

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Splits an attach stream of the engine into the container's two outputs. Each frame has a header of 8 bytes: the stream
 * (1 stdout, 2 stderr), three zeros, the length as 32-bit big-endian. Pieces are passed on as they come: a frame of any
 * length needs no memory of its own.
 *
 * Source: Docker Engine API, `POST /containers/{id}/attach`, "Stream format".
 */
export function frameSplitter(give: (kind: OutputKind, piece: Buffer) => void): (chunk: Buffer) => void {
  let header = Buffer.alloc(0);
  let kind: OutputKind = 'stdout';
  let left = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const missing = HEADER_BYTES - header.length;
        header = Buffer.concat([header, chunk.subarray(at, at + missing)]);
        at += missing;
        if (header.length < HEADER_BYTES) return;
        kind = header[0] === STDERR ? 'stderr' : 'stdout';
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
        continue;
      }
      const piece = chunk.subarray(at, at + left);
      give(kind, piece);
      at += piece.length;
      left -= piece.length;
    }
  };
}
