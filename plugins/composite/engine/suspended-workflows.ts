import { decode, encode, GatewayFault, isObject, Shares, type Store } from '@toolmgr/core';
import type { WaitingLimits } from './config.ts';
import { emptyMap, type WorkflowState } from './workflow-state.ts';

/** Workflows that wait for the user's answers. */
export interface SuspendedWorkflows {
  /**
   * Stores a workflow. Drops the caller's oldest one when the caller has reached its limit, and the oldest one of the caller
   * with the most when the total is reached.
   * @throws GatewayFault STORE_UNAVAILABLE, STORE_FULL
   */
  keep(state: WorkflowState, ttlMs: number, share: string): Promise<void>;
  /** Removes and returns a workflow. Only one request gets it, on all replicas together. */
  take(id: string): Promise<WorkflowState | undefined>;
}

interface SuspendedWorkflow {
  readonly id: string;
  readonly share: string;
  readonly text: Buffer;
  readonly untilMs: number;
}

/** Keeps suspended workflows in this process. */
export function suspendInMemory(limits: WaitingLimits, now: () => number): SuspendedWorkflows {
  const suspended = new Map<string, SuspendedWorkflow>();
  const shares = new Shares<SuspendedWorkflow>(limits.workflows, limits.workflowsPerCaller);
  const bytes = new Map<string, number>();
  let total = 0;
  const addBytes = (share: string, more: number): void => {
    const own = (bytes.get(share) ?? 0) + more;
    total += more;
    if (own === 0) bytes.delete(share);
    else bytes.set(share, own);
  };
  const drop = (entry: SuspendedWorkflow | undefined): void => {
    if (entry === undefined || !suspended.delete(entry.id)) return;
    shares.delete(entry.share, entry);
    addBytes(entry.share, -entry.text.length);
  };
  /** The caller whose oldest workflow must be dropped before `more` bytes fit; `undefined` when they fit. */
  const shareOverLimit = (share: string, more: number): string | undefined => {
    const own = bytes.get(share) ?? 0;
    if (own + more > limits.bytesPerCaller) return share;
    if (total + more <= limits.bytes) return undefined;
    const [most = [share, 0]] = [...bytes].sort(([, entry], [, other]) => other - entry);
    return most[1] > own + more ? most[0] : share;
  };
  const evictOldest = (share: string, more: number): void => {
    for (let from = shareOverLimit(share, more); from !== undefined; from = shareOverLimit(share, more)) {
      const [oldest] = shares.of(from);
      if (oldest === undefined) throw full();
      drop(oldest);
    }
    const donor = shares.donor(share);
    if (donor === undefined) return;
    const [oldest] = donor;
    if (oldest === undefined) throw full();
    drop(oldest);
  };
  return {
    async keep(state, ttlMs, share) {
      for (const entry of suspended.values()) if (entry.untilMs <= now()) drop(entry);
      const text = encode(state as never);
      evictOldest(share, text.length);
      const entry: SuspendedWorkflow = { id: state.id, share, text, untilMs: now() + ttlMs };
      suspended.set(entry.id, entry);
      shares.add(share, entry);
      addBytes(share, text.length);
    },
    async take(id) {
      const found = suspended.get(id);
      drop(found);
      return found === undefined || found.untilMs <= now() ? undefined : stateFrom(found.text);
    },
  };
}

function full(): GatewayFault {
  return new GatewayFault('STORE_FULL', 'too many suspended workflows');
}

/**
 * Keeps suspended workflows in a store, so that any replica can resume them.
 *
 * A token bucket of capacity 1 decides which replica resumes a state that two replicas get at the same time. The limit per
 * caller applies per replica.
 */
export function suspendInStore(
  store: Store,
  prefix: string,
  limits: WaitingLimits,
  now: () => number,
): SuspendedWorkflows {
  const stored = new Map<string, { readonly id: string; readonly share: string; readonly untilMs: number }>();
  const shares = new Shares<{ readonly id: string }>(Number.POSITIVE_INFINITY, limits.workflowsPerCaller);
  const forget = (id: string): void => {
    const entry = stored.get(id);
    if (entry === undefined) return;
    stored.delete(id);
    shares.delete(entry.share, entry);
  };
  const evictOldest = async (share: string): Promise<void> => {
    for (const { id, untilMs } of stored.values()) {
      if (untilMs > now()) break; // all have the same lifetime, so they expire in order
      forget(id);
    }
    for (const { id } of shares.donor(share) ?? []) {
      forget(id);
      return store.delete(`${prefix}${id}`);
    }
  };
  return {
    async keep(state, ttlMs, share) {
      const text = encode(state as never);
      if (text.length > MAX_STORED_BYTES)
        throw new GatewayFault('STORE_FULL', 'the workflow is too large for the store');
      await evictOldest(share);
      await store.set(`${prefix}${state.id}`, text.toString(), ttlMs);
      const entry = { id: state.id, share, untilMs: now() + ttlMs };
      stored.set(state.id, entry);
      shares.add(share, entry);
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
const ONCE_MS = 3_600_000; // longer than the lifetime of a suspended workflow

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
