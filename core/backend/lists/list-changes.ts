import { isObject } from '../../json/json-value.ts';
import { CHANGED_LIST, LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import { DISCOVERY_CALLER } from '../sessions/backend-session.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import { Listening } from '../subscriptions.ts';
import type { ListReaderOptions } from './list-reader.ts';

/** Receives a modern backend's list changes; a legacy backend sends them on its session without a subscription. */
export class ListChanges {
  readonly #listening: Listening;
  /** Kinds of a subscription that the backend has accepted. */
  #heard: ReadonlySet<ListKind> = new Set();

  /** `changed`: these lists changed, or may have changed while nothing was received. */
  constructor({ backend, pool, limits, log }: ListReaderOptions, changed: (kinds: readonly ListKind[]) => void) {
    this.#listening = new Listening({
      backend: backend.name,
      caller: DISCOVERY_CALLER,
      capabilities: {},
      purpose: 'discovery',
      limits,
      log,
      connection: () => pool.base.connect(),
      onNotification: (method) => {
        const kind = CHANGED_LIST.get(method);
        if (kind !== undefined) changed([kind]);
      },
      onReconnected: () => changed(LIST_KINDS),
      onRefused: () => {
        this.#heard = new Set();
      },
    });
  }

  /** Subscribes to the changes that the backend announces. Rejects when it refuses the subscription. */
  async listenTo(connection: JsonRpcConnection): Promise<void> {
    const filter: Record<string, true> = {};
    for (const kind of LIST_KINDS) {
      const capability = connection.hello.capabilities[kind];
      if (isObject(capability) && capability.listChanged === true) filter[`${kind}ListChanged`] = true;
    }
    const kinds = LIST_KINDS.filter((kind) => filter[`${kind}ListChanged`]);
    if (kinds.length === 0) return;
    await this.#listening.subscribe(filter);
    this.#heard = new Set(kinds);
  }

  /** Whether a modern backend's changes of this list are received. */
  hears(kind: ListKind): boolean {
    return this.#heard.has(kind);
  }

  stop(): void {
    this.#heard = new Set();
    this.#listening.stop();
  }
}
