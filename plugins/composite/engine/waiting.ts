import { decode, encode, GatewayFault, isObject, Shares, type Store } from '@toolmgr/core';
import type { WaitingLimits } from './config.ts';
import { emptyMap, type WorkflowState } from './state.ts';

/** Workflows that wait for an answer of their person. */
export interface Waiting {
  /**
   * Keeps a workflow for its caller, whose oldest goes when it has its share. When all places are taken the caller with the
   * most gives one up for a caller with less.
   * @throws GatewayFault STORE_UNAVAILABLE, STORE_FULL
   */
  keep(state: WorkflowState, ttlMs: number, share: string): Promise<void>;
  /** Takes a workflow out, once: whoever asks second gets nothing, on whichever replica. */
  take(id: string): Promise<WorkflowState | undefined>;
}

/** One workflow that waits. */
interface Kept {
  readonly id: string;
  readonly share: string;
  readonly text: Buffer;
  readonly untilMs: number;
}

/** Keeps them in this process, within the limits. */
export function waitHere(limits: WaitingLimits, now: () => number): Waiting {
  const kept = new Map<string, Kept>();
  const places = new Shares<Kept>(limits.workflows, limits.workflowsPerCaller);
  const bytes = new Map<string, number>();
  let total = 0;
  const weigh = (share: string, more: number): void => {
    const own = (bytes.get(share) ?? 0) + more;
    total += more;
    if (own === 0) bytes.delete(share);
    else bytes.set(share, own);
  };
  const drop = (one: Kept | undefined): void => {
    if (one === undefined || !kept.delete(one.id)) return;
    places.delete(one.share, one);
    weigh(one.share, -one.text.length);
  };
  /** The share that has to give up bytes before one gets `more`; `undefined` while there is room. */
  const heavy = (share: string, more: number): string | undefined => {
    const own = bytes.get(share) ?? 0;
    if (own + more > limits.bytesPerCaller) return share;
    if (total + more <= limits.bytes) return undefined;
    const [most = [share, 0]] = [...bytes].sort(([, one], [, other]) => other - one);
    return most[1] > own + more ? most[0] : share;
  };
  const makeRoom = (share: string, more: number): void => {
    for (let from = heavy(share, more); from !== undefined; from = heavy(share, more)) {
      const [oldest] = places.of(from);
      if (oldest === undefined) throw full();
      drop(oldest);
    }
    const donor = places.donor(share);
    if (donor === undefined) return;
    const [oldest] = donor;
    if (oldest === undefined) throw full();
    drop(oldest);
  };
  return {
    async keep(state, ttlMs, share) {
      for (const one of kept.values()) if (one.untilMs <= now()) drop(one);
      const text = encode(state as never);
      makeRoom(share, text.length);
      const one: Kept = { id: state.id, share, text, untilMs: now() + ttlMs };
      kept.set(one.id, one);
      places.add(share, one);
      weigh(share, text.length);
    },
    async take(id) {
      const found = kept.get(id);
      drop(found);
      return found === undefined || found.untilMs <= now() ? undefined : stateFrom(found.text);
    },
  };
}

function full(): GatewayFault {
  return new GatewayFault('STORE_FULL', 'too many workflows wait for an answer');
}

/**
 * Keeps them in a store, so that any replica goes on with them.
 *
 * Two replicas that are given the same state at once race for a bucket with a single token; only one of them goes on. A caller
 * has its share on each replica.
 */
export function waitIn(store: Store, prefix: string, limits: WaitingLimits, now: () => number): Waiting {
  const begun = new Map<string, { readonly id: string; readonly share: string; readonly untilMs: number }>();
  const places = new Shares<{ readonly id: string }>(Number.POSITIVE_INFINITY, limits.workflowsPerCaller);
  const forget = (id: string): void => {
    const one = begun.get(id);
    if (one === undefined) return;
    begun.delete(id);
    places.delete(one.share, one);
  };
  const makeRoom = async (share: string): Promise<void> => {
    for (const { id, untilMs } of begun.values()) {
      if (untilMs > now()) break; // all wait equally long
      forget(id);
    }
    for (const { id } of places.donor(share) ?? []) {
      forget(id);
      return store.delete(`${prefix}${id}`);
    }
  };
  return {
    async keep(state, ttlMs, share) {
      const text = encode(state as never);
      if (text.length > MAX_STORED_BYTES)
        throw new GatewayFault('STORE_FULL', 'the workflow is too large to wait in the store');
      await makeRoom(share);
      await store.set(`${prefix}${state.id}`, text.toString(), ttlMs);
      const one = { id: state.id, share, untilMs: now() + ttlMs };
      begun.set(state.id, one);
      places.add(share, one);
    },
    async take(id) {
      forget(id);
      const key = `${prefix}${id}`;
      const text = await store.get(key);
      if (text === undefined) return undefined;
      const wait = await store.take([{ key: `${key}:once`, capacity: 1, refillPeriodMs: ONCE_MS }], now());
      if (wait > 0) return undefined;
      await store.delete(key);
      return stateFrom(Buffer.from(text));
    },
  };
}

const MAX_STORED_BYTES = 8 * 1024 * 1024;
const ONCE_MS = 3_600_000; // longer than any workflow waits

function stateFrom(text: Buffer): WorkflowState | undefined {
  const value = decode(text);
  if (!isObject(value)) return undefined;
  const state = value as unknown as WorkflowState;
  return {
    ...state,
    steps: Object.assign(emptyMap(), state.steps),
    questions: Object.assign(emptyMap(), state.questions),
    answers: Object.assign(emptyMap(), state.answers),
  };
}
