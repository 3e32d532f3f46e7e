import { type Caller, type Core, createOutageLog, type Store } from '@toolmgr/core';
import type { ResultLimitsConfig } from './config.ts';
import { isResultId, newResultId, openResult, sealedLength, sealResult, storeKeyOf } from './sealed-result.ts';
import { createSpace } from './space.ts';

/** Results that stay at the gateway. */
export interface KeptResults {
  /** @throws GatewayFault SLOT_UNKNOWN when the plan has no such store */
  start(): void;
  /** Keeps a result for its caller: its id, or why it is not kept. Never rejects. */
  keep(result: Buffer, caller: Caller): Promise<{ readonly id: string } | { readonly because: string }>;
  /**
   * A result; `undefined` when there is none for this caller. Rejects with STORE_UNAVAILABLE when the store does not answer.
   */
  read(id: string, caller: Caller): Promise<Buffer | undefined>;
  /** What this process keeps. */
  now(): { readonly results: number; readonly bytes: number };
}

/** The store is looked up at the start, because plugins register stores in any order. */
export function createKeptResults(core: Pick<Core, 'slots' | 'log' | 'now'>, config: ResultLimitsConfig): KeptResults {
  const { keepFor: keepForMs, bytesPerCaller, bytesTotal } = config;
  const space = createSpace({ bytesPerCaller, bytesTotal, keepForMs, now: core.now });
  const outage = createOutageLog(core, {
    began: 'results over their budgets are cut: they cannot be kept',
    over: 'results over their budgets are kept again',
  });
  let store: Store;
  return {
    start() {
      store = core.slots.stores.get(config.store ?? 'memory');
    },
    async keep(result, caller) {
      const id = newResultId();
      const key = storeKeyOf(id);
      // no person gets more by delegating
      const gone = space.take(caller.subjectKey ?? caller.key, key, sealedLength(result.length));
      if (gone === undefined) return { because: NO_SPACE };
      const sealed = sealResult(id, caller.key, result); // before any wait: the bytes belong to the response
      try {
        await Promise.all(gone.map((old) => store.delete(old)));
        await store.set(key, sealed, keepForMs);
        if (!space.has(key)) {
          await store.delete(key); // a newer result took the space, and its delete may have come before the value
          return { because: NO_SPACE };
        }
      } catch (cause) {
        space.release(key);
        outage.failed(cause);
        return { because: 'the store of the gateway does not take it now' };
      }
      outage.over();
      return { id };
    },
    async read(id, caller) {
      if (!isResultId(id)) return undefined;
      const sealed = await store.get(storeKeyOf(id));
      return sealed === undefined ? undefined : openResult(id, caller.key, sealed);
    },
    now: space.now,
  };
}

const NO_SPACE = 'there is no space for it';
