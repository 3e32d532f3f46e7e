import type { OuterEffect } from './availability.ts';
import type { BackendLists } from './lists/backend-lists.ts';
import type { Connector } from './sessions/connector.ts';
import type { SessionPool } from './sessions/session-pool.ts';
import type { ModernWatches } from './subscriptions/modern-subscriptions.ts';

/** What the effects of one backend change. */
export interface EffectTargets {
  readonly pool: SessionPool;
  readonly connector: Connector;
  readonly lists: BackendLists;
  readonly watches: ModernWatches;
  /** Tells the gateway that the status changed. */
  announce(): void;
  /** Whether a failure is no news for the operator: the gateway itself has no credentials, only its callers have. */
  isExpected(cause: unknown): boolean;
  note(what: string, cause: unknown): void;
}

/** Does what a change of the availability asks for. */
export function runEffect(effect: OuterEffect, targets: EffectTargets): void {
  (RUN[effect.do] as Run<OuterEffect>)(targets, effect);
}

type Run<E> = (targets: EffectTargets, effect: E) => void;

const RUN: { readonly [K in OuterEffect['do']]: Run<Extract<OuterEffect, { readonly do: K }>> } = {
  'renew-session': ({ pool }) => pool.base.renew(),
  'stop-listening': ({ lists }) => lists.changes.stop(),
  'close-pooled': ({ connector }) => connector.closePooledConnections(),
  'outdate-lists'({ pool, lists }, { era }) {
    pool.forgetModernOnly();
    lists.cache.outdate(era);
  },
  'serve-lists'({ lists, watches, note }, { read }) {
    lists.becameReady(read.listing);
    watches.restore((cause) => note('subscription not restored', cause));
  },
  'resume-calls': ({ lists }) => lists.callsResumed(),
  'stop-calls': ({ lists }) => lists.cache.startGrace(),
  announce: (targets) => targets.announce(),
  note({ isExpected, note }, { what, cause }) {
    if (!isExpected(cause)) note(what, cause);
  },
};
