import { LONGEST_TIMER_MS } from '@toolmgr/core';

/** What the rounds are made with. */
export interface RoundsOptions {
  /** Probes under way at once, over all backends. */
  readonly places: number;
  now(): number;
  /** Probes one; resolves with the epoch milliseconds of its next turn. Never rejects. */
  probe(name: string, signal: AbortSignal): Promise<number>;
}

/** Whose turn it is: one probe per backend at a time, a bounded number over all, the longest overdue first. */
export interface Rounds {
  add(name: string, dueMs: number): void;
  delete(name: string): void;
  /** Brings a turn forward; one that is under way or earlier stays. */
  hurry(name: string, dueMs: number): void;
  /** Puts a turn off, or forward. */
  put(name: string, dueMs: number): void;
  /** Ends what is under way at once, and all to come. */
  stop(): void;
}

interface Turn {
  dueMs: number;
  underway: AbortController | undefined;
}

/** Makes rounds; they begin with the first `add`. One timer serves all backends and keeps no process alive. */
export function createRounds({ places, now, probe }: RoundsOptions): Rounds {
  const turns = new Map<string, Turn>();
  let underway = 0;
  let timer: NodeJS.Timeout | undefined;
  let wakesMs = 0;
  let isStopped = false;

  const run = async (name: string, turn: Turn): Promise<void> => {
    const stop = new AbortController();
    turn.underway = stop;
    underway++;
    const nextMs = await probe(name, stop.signal);
    underway--;
    turn.underway = undefined;
    turn.dueMs = nextMs;
    look();
  };

  const look = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (isStopped) return;
    const nowMs = now();
    const due: [string, Turn][] = [];
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const entry of turns) {
      const [, turn] = entry;
      if (turn.underway !== undefined) continue;
      if (turn.dueMs <= nowMs) due.push(entry);
      else earliestMs = Math.min(earliestMs, turn.dueMs);
    }
    due.sort(([, one], [, other]) => one.dueMs - other.dueMs);
    // Who finds no place waits for the end of another, which looks again.
    for (const [name, turn] of due.slice(0, Math.max(0, places - underway))) void run(name, turn);
    wakeAt(earliestMs);
  };

  const wakeAt = (dueMs: number): void => {
    if (isStopped || dueMs === Number.POSITIVE_INFINITY) return;
    if (timer !== undefined && wakesMs <= dueMs) return;
    clearTimeout(timer);
    wakesMs = dueMs;
    timer = setTimeout(look, Math.min(Math.max(dueMs - now(), 0), LONGEST_TIMER_MS));
    timer.unref();
  };

  const put = (name: string, dueMs: number): void => {
    const turn = turns.get(name);
    if (turn === undefined || turn.underway !== undefined) return;
    turn.dueMs = dueMs;
    wakeAt(dueMs);
  };

  return {
    add(name, dueMs) {
      turns.set(name, { dueMs, underway: undefined });
      wakeAt(dueMs);
    },
    delete(name) {
      turns.get(name)?.underway?.abort();
      turns.delete(name);
    },
    hurry(name, dueMs) {
      if ((turns.get(name)?.dueMs ?? dueMs) > dueMs) put(name, dueMs);
    },
    put,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      for (const turn of turns.values()) turn.underway?.abort();
      turns.clear();
    },
  };
}
