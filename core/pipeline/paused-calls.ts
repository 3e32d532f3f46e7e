import type { Call, CallRecord } from '../contract/call.ts';

/** Calls between two rounds, so that each call is counted, limited and recorded once. */
export interface PausedCalls {
  /**
   * Resumes a paused call; `undefined` in a first round, for a state that was used before, and on another replica. Then
   * the call is limited like a new one, so a replayed `requestState` gains nothing.
   */
  resume(call: Call): { readonly startedMs: number } | undefined;
  /** A round ended with a request to the client; the record is reported when the call ends or is abandoned. */
  pause(record: CallRecord): void;
  /** Reports calls whose client did not continue within the time to live. */
  sweep(): void;
  /** The gateway stops: reports all paused calls. */
  end(): void;
  readonly size: number;
}

/** Keeps at most `max` paused calls; beyond that the oldest one is reported as abandoned. */
export function createPausedCalls(
  max: number,
  ttlMs: number,
  now: () => number,
  abandoned: (record: CallRecord) => void,
): PausedCalls {
  const paused = new Map<string, { readonly record: CallRecord; readonly atMs: number }>();
  const abandon = (id: string): void => {
    const found = paused.get(id);
    if (found === undefined) return;
    paused.delete(id);
    abandoned({ ...found.record, outcome: 'abandoned', durationMs: now() - found.record.startedMs });
  };
  return {
    resume(call) {
      if (call.round === 1) return undefined;
      const found = paused.get(call.id);
      if (found === undefined || found.record.call.round !== call.round - 1) return undefined;
      paused.delete(call.id);
      return { startedMs: found.record.startedMs };
    },
    pause(record) {
      paused.set(record.call.id, { record, atMs: now() });
      if (paused.size <= max) return;
      const oldest = paused.keys().next().value;
      if (oldest !== undefined) abandon(oldest);
    },
    sweep() {
      const before = now() - ttlMs;
      for (const [id, { atMs }] of paused) {
        if (atMs > before) return;
        abandon(id);
      }
    },
    end() {
      for (const id of [...paused.keys()]) abandon(id);
    },
    get size() {
      return paused.size;
    },
  };
}
