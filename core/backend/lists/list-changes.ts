import type { Backend } from '../../contract/backend.ts';
import type { Log } from '../../extension/plugin.ts';
import { isObject } from '../../json/json-value.ts';
import type { Limits } from '../../limits.ts';
import { CHANGED_LIST, LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import type { SessionHolder } from '../sessions/session-holder.ts';
import { Listening } from '../subscriptions/listening.ts';
import { DISCOVERY_CALLER } from './discovery-caller.ts';

/** What receiving list changes needs. */
export interface ListChangesOptions {
  readonly backend: Backend;
  /** The gateway's own session. */
  readonly base: SessionHolder;
  readonly limits: Limits;
  readonly log: Log;
  /** These lists changed, or may have changed while nothing was received. */
  changed(kinds: readonly ListKind[]): void;
}

/** Receives a modern backend's list changes; a legacy backend sends them on its session without a subscription. */
export class ListChanges {
  readonly #listening: Listening;
  /** Kinds of a subscription that the backend has accepted. */
  #heard: ReadonlySet<ListKind> = new Set();

  constructor({ backend, base, limits, log, changed }: ListChangesOptions) {
    this.#listening = new Listening({
      backend: backend.name,
      caller: DISCOVERY_CALLER,
      capabilities: {},
      purpose: 'discovery',
      limits,
      log,
      connection: () => base.connect(),
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
