import { decode, encode, GatewayFault, isObject, type Store } from '@toolmgr/core';
import { emptyMap, type WorkflowState } from './state.ts';

/** Workflows that wait for an answer of their person. */
export interface Waiting {
  /** @throws GatewayFault STORE_UNAVAILABLE, STORE_FULL */
  keep(state: WorkflowState, ttlMs: number): Promise<void>;
  /** Takes a workflow out, once: whoever asks second gets nothing, on whichever replica. */
  take(id: string): Promise<WorkflowState | undefined>;
}

const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Keeps them in this process: at most a thousand, 64 MiB together. */
export function waitHere(now: () => number): Waiting {
  const kept = new Map<string, { readonly text: Buffer; readonly untilMs: number }>();
  let bytes = 0;
  const drop = (id: string): void => {
    bytes -= kept.get(id)?.text.length ?? 0;
    kept.delete(id);
  };
  return {
    async keep(state, ttlMs) {
      for (const [id, { untilMs }] of kept) if (untilMs <= now()) drop(id);
      const text = encode(state as never);
      if (kept.size >= MAX_WAITING || bytes + text.length > MAX_WAITING_BYTES) {
        throw new GatewayFault('STORE_FULL', 'too many workflows wait for an answer');
      }
      bytes += text.length;
      kept.set(state.id, { text, untilMs: now() + ttlMs });
    },
    async take(id) {
      const found = kept.get(id);
      drop(id);
      return found === undefined || found.untilMs <= now() ? undefined : stateFrom(found.text);
    },
  };
}

/**
 * Keeps them in a store, so that any replica goes on with them.
 *
 * Two replicas that are given the same state at once race for a bucket with a single token; only one of them goes on.
 */
export function waitIn(store: Store, prefix: string, now: () => number): Waiting {
  return {
    async keep(state, ttlMs) {
      const text = encode(state as never);
      if (text.length > MAX_STORED_BYTES)
        throw new GatewayFault('STORE_FULL', 'the workflow is too large to wait in the store');
      await store.set(`${prefix}${state.id}`, text.toString(), ttlMs);
    },
    async take(id) {
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
