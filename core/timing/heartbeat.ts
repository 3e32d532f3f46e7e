import { InFlightMap } from './in-flight-map.ts';

/** Something that wants to be reminded from time to time: an open stream, a call that takes long. */
export interface HeartbeatListener {
  beat(): void;
}

/** One timer for all open streams and waiting calls, instead of one each. */
export interface Heartbeat {
  add(listener: HeartbeatListener): void;
  delete(listener: HeartbeatListener): void;
  stop(): void;
}

/** Reminds everything added once per `intervalMs`. What throws is reported and does not keep others from their beat. */
export function createHeartbeat(intervalMs: number, report: (cause: unknown) => void): Heartbeat {
  const listeners = new InFlightMap<HeartbeatListener, HeartbeatListener>();
  const beat = (): void => {
    for (const each of listeners.values()) {
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
    add: (listener) => listeners.set(listener, listener),
    delete: (listener) => void listeners.delete(listener),
    stop: () => clearInterval(timer),
  };
}
