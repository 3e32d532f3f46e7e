import type { Call, CallRecord } from '../contract/call.ts';
import { type ByteBudget, type HeldBytes, heldOf } from '../mcp/byte-budget.ts';
import { shareOfCall } from '../mcp/shares.ts';

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

interface Paused {
  readonly record: CallRecord;
  readonly atMs: number;
  readonly share: string;
  /** Of its request, which the record refers to. */
  readonly held: HeldBytes;
}

/**
 * Keeps at most `max` paused calls; beyond that the oldest one is reported as abandoned. Their requests are counted in `kept`, each for
 * its caller: without space there the oldest ones of the caller are reported as abandoned.
 */
export function createPausedCalls(
  max: number,
  ttlMs: number,
  now: () => number,
  abandoned: (record: CallRecord) => void,
  kept: ByteBudget,
): PausedCalls {
  const paused = new Map<string, Paused>();
  const ofShare = new Map<string, Set<string>>(); // ids, oldest first
  const take = (id: string): Paused | undefined => {
    const found = paused.get(id);
    if (found === undefined) return undefined;
    paused.delete(id);
    found.held.release();
    const ids = ofShare.get(found.share);
    ids?.delete(id);
    if (ids?.size === 0) ofShare.delete(found.share);
    return found;
  };
  const report = (record: CallRecord): void =>
    abandoned({ ...record, outcome: 'abandoned', durationMs: now() - record.startedMs });
  const abandon = (id: string): void => {
    const found = take(id);
    if (found !== undefined) report(found.record);
  };
  const oldestOf = (ids: Iterable<string> | undefined): string | undefined => {
    for (const id of ids ?? []) return id;
    return undefined;
  };
  return {
    resume(call) {
      if (call.round === 1) return undefined;
      const found = paused.get(call.id);
      if (found === undefined || found.record.call.round !== call.round - 1) return undefined;
      take(call.id);
      return { startedMs: found.record.startedMs };
    },
    pause(record) {
      const { id, inbound } = record.call;
      take(id);
      const share = shareOfCall(record.call);
      const held = kept.holder(share);
      const bytes = (heldOf(inbound)?.bytes ?? 0) + RECORD_BYTES;
      while (!held.take(bytes)) {
        const oldest = oldestOf(ofShare.get(share));
        if (oldest === undefined) return report(record);
        abandon(oldest);
      }
      paused.set(id, { record, atMs: now(), share, held });
      ofShare.set(share, (ofShare.get(share) ?? new Set()).add(id));
      if (paused.size > max) abandon(oldestOf(paused.keys()) ?? '');
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

const RECORD_BYTES = 1024; // of a record without its request
