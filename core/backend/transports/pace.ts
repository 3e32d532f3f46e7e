/** Bytes of one stream that are read in a row before everybody else gets a turn. */
const TURN_BYTES = 65_536;

/**
 * Keeps one flooding stream from holding up all others.
 *
 * Node takes up to 32 reads (2 MiB) from a socket that is never empty before it looks at the next, and the messages in
 * them are handled on the way: with small ones that is a tenth of a second. So a stream rests for one turn of the event
 * loop whenever it has had its bytes; meanwhile the far side waits by the flow control of its own connection.
 */
export class Pace {
  #bytes = 0;

  /** Bytes of `stream` were handled. */
  took(bytes: number, stream: Pausable): void {
    this.#bytes += bytes;
    if (this.#bytes < TURN_BYTES) return;
    this.#bytes = 0;
    stream.pause();
    setImmediate(resume, stream);
  }
}

interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

function resume(stream: Pausable): void {
  stream.resume();
}
