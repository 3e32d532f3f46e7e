import type { SessionOwner } from '../../contract/client-context.ts';
import type { RawJson } from '../../contract/json.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { SessionEvents } from './backend-session.ts';
import type { ResourceWatchers } from './resource-watchers.ts';

/** Who receives the messages of a session that belong to no call. */
export interface SessionReceivers extends Pick<SessionEvents, 'listChanged' | 'ambiguousMessage' | 'lost'> {
  readonly backend: string;
  /** The only owner of the session; `undefined` when there are several. */
  readonly owner: SessionOwner | undefined;
  readonly watchers: ResourceWatchers;
}

/** Passes the messages of a session that belong to no call to its owner, and updates of resources to their subscribers. */
export function sessionEvents(to: SessionReceivers): SessionEvents {
  const { backend, owner, watchers } = to;
  return {
    listChanged: (kind) => to.listChanged(kind),
    updated: (params) => notifyWatchers(backend, watchers, params),
    logged: (params) => owner?.sink?.logged(backend, params),
    notified: (method, params) => owner?.sink?.notified?.(backend, method, params),
    ambiguousMessage: () => to.ambiguousMessage(),
    get request() {
      return owner?.sink?.request;
    },
    lost: (cause) => to.lost(cause),
  };
}

function notifyWatchers(backend: string, watchers: ResourceWatchers, params: RawJson): void {
  const uri = RawObject.parse(params).string('uri');
  if (uri === undefined) return;
  for (const owner of watchers.ownersFor(uri)) owner.sink?.resourceUpdated(backend, params);
}
