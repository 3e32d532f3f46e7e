import type { Backend } from '../../contract/backend.ts';
import type { Log } from '../../extension/plugin.ts';
import { isObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { CHANGED_LIST, LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import type { SessionHolder } from '../sessions/reopen-session.ts';
import { Listening } from '../subscriptions/listening.ts';
import { DISCOVERY_CALLER } from './discovery-caller.ts';

/** What hearing of changes needs. */
export interface ListChangesOptions {
  readonly backend: Backend;
  /** The gateway's own link. */
  readonly base: SessionHolder;
  readonly limits: Limits;
  readonly log: Log;
  /** These lists have changed, or may have while nobody listened. */
  changed(kinds: readonly ListKind[]): void;
}

/** The ear for a modern backend's list changes; a legacy one tells them unasked on its session. */
export class ListChanges {
  readonly #listening: Listening;

  constructor({ backend, base, limits, log, changed }: ListChangesOptions) {
    this.#listening = new Listening({
      backend: backend.name,
      caller: DISCOVERY_CALLER,
      capabilities: {},
      purpose: 'discovery',
      limits,
      log,
      link: () => base.take(),
      heard: (method) => {
        const kind = CHANGED_LIST.get(method);
        if (kind !== undefined) changed([kind]);
      },
      resumed: () => changed(LIST_KINDS),
    });
  }

  /** Listens for what the backend promises to tell. Rejects when it does not take the subscription. */
  async listenTo(link: JsonRpcConnection): Promise<void> {
    const filter: Record<string, true> = {};
    for (const kind of LIST_KINDS) {
      const capability = link.hello.capabilities[kind];
      if (isObject(capability) && capability.listChanged === true) filter[`${kind}ListChanged`] = true;
    }
    if (Object.keys(filter).length > 0) await this.#listening.want(filter);
  }

  stop(): void {
    this.#listening.stop();
  }
}
