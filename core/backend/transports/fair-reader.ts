/** Bytes of one stream that are read in a row before other streams are read. */
const TURN_BYTES = 65_536;

/**
 * Prevents one flooding stream from delaying all others.
 *
 * Node reads up to 32 times (2 MiB) from a socket with data before it reads the next one, and the messages are handled
 * meanwhile: with small messages this takes a tenth of a second. So a stream is paused for one turn of the event loop
 * whenever it has used up its bytes; the flow control of its connection slows the sender down.
 */
export class FairReader {
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

/** A stream that can be stopped for a while. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

function resume(stream: Pausable): void {
  stream.resume();
}
