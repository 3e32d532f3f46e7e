import type { SessionOwner } from '../../contract/client-context.ts';
import { withoutHopMeta } from '../../mcp/backend-message.ts';
import type { OwnerSessions } from '../sessions/exclusive-sessions.ts';
import { type ListenFilter, Listening } from './listening.ts';

interface Watch {
  readonly listening: Listening;
  readonly counts: Map<string, number>;
}

/** The resources that owners subscribed to at a modern backend: one listen stream per owner, with its credentials. */
export class ModernWatches {
  readonly #options: OwnerSessions;
  readonly #watches = new Map<string, Watch>();

  constructor(options: OwnerSessions) {
    this.#options = options;
  }

  /** Counted per owner and URI. @throws GatewayFault · BackendError when the backend refuses; nothing is stored then */
  async add(uri: string, owner: SessionOwner): Promise<void> {
    const watch = this.#watches.get(owner.key) ?? this.#begin(owner);
    const before = watch.counts.get(uri) ?? 0;
    watch.counts.set(uri, before + 1);
    if (before > 0) return;
    try {
      await watch.listening.subscribe(filterOf(watch));
    } catch (cause) {
      watch.counts.delete(uri);
      if (watch.counts.size === 0) this.release(owner.key);
      throw cause;
    }
  }

  /** Returns whether there was such a subscription. */
  async remove(uri: string, ownerKey: string): Promise<boolean> {
    const watch = this.#watches.get(ownerKey);
    const count = watch?.counts.get(uri);
    if (watch === undefined || count === undefined) return false;
    if (count > 1) {
      watch.counts.set(uri, count - 1);
      return true;
    }
    watch.counts.delete(uri);
    if (watch.counts.size === 0) this.release(ownerKey);
    else await watch.listening.subscribe(filterOf(watch));
    return true;
  }

  /** The backend is back: reopens every stream. */
  restore(failed: (cause: unknown) => void): void {
    for (const watch of this.#watches.values()) watch.listening.subscribe(filterOf(watch)).catch(failed);
  }

  release(ownerKey: string): void {
    this.#watches.get(ownerKey)?.listening.stop();
    this.#watches.delete(ownerKey);
  }

  stop(): void {
    for (const watch of this.#watches.values()) watch.listening.stop();
    this.#watches.clear();
  }

  #begin(owner: SessionOwner): Watch {
    const { limits, log, connection } = this.#options;
    const backend = this.#options.backend.name;
    const listening = new Listening({
      backend,
      caller: owner.caller,
      capabilities: owner.capabilities,
      purpose: 'session',
      limits,
      log,
      connection: () => connection(owner),
      onNotification(method, params) {
        if (method === 'notifications/resources/updated') owner.sink?.resourceUpdated(backend, withoutHopMeta(params));
      },
      onReconnected: () => undefined,
    });
    const watch = { listening, counts: new Map<string, number>() };
    this.#watches.set(owner.key, watch);
    return watch;
  }
}

function filterOf(watch: Watch): ListenFilter {
  return { resourceSubscriptions: [...watch.counts.keys()] };
}
