import { Roster } from './roster.ts';

/** Something that wants to be reminded from time to time: an open stream, a call that takes long. */
export interface Beating {
  beat(): void;
}

/** One timer for all open streams and waiting calls, instead of one each. */
export interface Pulse {
  add(beating: Beating): void;
  delete(beating: Beating): void;
  stop(): void;
}

/** Reminds everything added once per `intervalMs`. What throws is reported and does not keep others from their beat. */
export function createPulse(intervalMs: number, report: (cause: unknown) => void): Pulse {
  const beatings = new Roster<Beating, Beating>();
  const beat = (): void => {
    for (const each of beatings.values()) {
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
    add: (beating) => beatings.set(beating, beating),
    delete: (beating) => void beatings.delete(beating),
    stop: () => clearInterval(timer),
  };
}
