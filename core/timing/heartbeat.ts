import { InFlightMap } from './in-flight-map.ts';

/** What is called from time to time: an open stream, a call that takes long. */
export interface HeartbeatListener {
  beat(): void;
}

/** One timer for all open streams and waiting calls, instead of one each. */
export interface Heartbeat {
  /** Open event streams. */
  readonly streams: Set<HeartbeatListener>;
  /** Calls that wait for their result. Each request adds and deletes one, so this is no Set: see {@link InFlightMap}. */
  readonly calls: {
    add(listener: HeartbeatListener): void;
    delete(listener: HeartbeatListener): void;
  };
  stop(): void;
}

/** Calls everything added once per `intervalMs`. What throws is reported and does not keep the others from their beat. */
export function createHeartbeat(intervalMs: number, report: (cause: unknown) => void): Heartbeat {
  const streams = new Set<HeartbeatListener>();
  const calls = new InFlightMap<HeartbeatListener, HeartbeatListener>();
  const beat = (): void => {
    for (const each of [...calls.values(), ...streams]) {
      try {
        each.beat();
      } catch (cause) {
        report(cause);
      }
    }
  };
  const timer = setInterval(beat, intervalMs);
  timer.unref();
  return {
    streams,
    calls: {
      add: (listener) => calls.set(listener, listener),
      delete: (listener) => void calls.delete(listener),
    },
    stop: () => clearInterval(timer),
  };
}
