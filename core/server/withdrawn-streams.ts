import type { Caller } from '../contract/caller.ts';

/** An open event stream. */
export interface OpenStream {
  isOpen(): boolean;
  /** Ends it gracefully. */
  end(): void;
}

/** Ends event streams whose token was withdrawn after they were opened. Requests are checked one by one anyway. */
export interface WithdrawnStreams {
  /** Checks the token of the caller while the stream is open. */
  watch(caller: Caller, stream: OpenStream): void;
  stop(): void;
}

/** Asks for every open stream once per `intervalMs`. A failure to ask counts as not withdrawn. */
export function createWithdrawnStreams(intervalMs: number): WithdrawnStreams {
  const watched = new Map<OpenStream, Caller>();
  const check = async (stream: OpenStream, caller: Caller): Promise<void> => {
    if (!stream.isOpen()) return void watched.delete(stream);
    if ((await caller.isWithdrawn?.()) !== true) return;
    watched.delete(stream);
    if (stream.isOpen()) stream.end();
  };
  const timer = setInterval(() => {
    for (const [stream, caller] of watched) check(stream, caller).catch(() => {}); // the next request reports it
  }, intervalMs);
  timer.unref();
  return {
    watch(caller, stream) {
      if (caller.isWithdrawn !== undefined) watched.set(stream, caller);
    },
    stop: () => clearInterval(timer),
  };
}
