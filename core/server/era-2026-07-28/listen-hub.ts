import type { SessionListener } from '../../contract/client-context.ts';
import type { RawJson } from '../../contract/json.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { ListKind } from '../../mcp/methods.ts';
import type { ListsChanged } from '../../pipeline/gateway-service.ts';

/** One open `subscriptions/listen`, as the hub sees it. */
export interface Listener {
  readonly ownerKey: string;
  readonly capabilityClass: string;
  readonly listClass?: string | undefined;
  listChanged(kind: ListKind): void;
  /** Receives an update; ignores it unless the listener subscribed to the resource and it comes from its backend. */
  resourceUpdated(backend: string, uri: string, params: RawJson): void;
  /** Ends the listen gracefully. */
  finish(): void;
}

/** Distributes changes to the open listens that subscribed to them. */
export interface ListenHub {
  add(listener: Listener, countKey: string): void;
  delete(listener: Listener, countKey: string): void;
  /** Number of open listens of a caller. */
  openOf(countKey: string): number;
  /** The sink of every owner with this key: stateless, so owners may be recreated at any time. */
  sinkOf(ownerKey: string): SessionListener;
  listsChanged(change: ListsChanged): void;
  finishAll(): void;
}

export function createListenHub(): ListenHub {
  const byOwner = new Map<string, Set<Listener>>();
  const counts = new Map<string, number>();
  const all = function* (): Iterable<Listener> {
    for (const listeners of byOwner.values()) yield* listeners;
  };
  return {
    add(listener, countKey) {
      const listeners = byOwner.get(listener.ownerKey) ?? new Set();
      listeners.add(listener);
      byOwner.set(listener.ownerKey, listeners);
      counts.set(countKey, (counts.get(countKey) ?? 0) + 1);
    },
    delete(listener, countKey) {
      const listeners = byOwner.get(listener.ownerKey);
      if (listeners?.delete(listener) !== true) return;
      if (listeners.size === 0) byOwner.delete(listener.ownerKey);
      const left = (counts.get(countKey) ?? 1) - 1;
      if (left === 0) counts.delete(countKey);
      else counts.set(countKey, left);
    },
    openOf: (countKey) => counts.get(countKey) ?? 0,
    sinkOf: (ownerKey) => ({
      resourceUpdated(backend, params) {
        const listeners = byOwner.get(ownerKey);
        const uri = listeners === undefined ? undefined : RawObject.parse(params).string('uri');
        if (listeners === undefined || uri === undefined) return;
        for (const each of listeners) each.resourceUpdated(backend, uri, params);
      },
      listsChanged(_workload, kinds) {
        for (const each of byOwner.get(ownerKey) ?? []) for (const kind of kinds) each.listChanged(kind);
      },
      logged() {
        // Outside a call no log level was requested, so nothing may be sent (MCP 2026-07-28, logging).
      },
    }),
    listsChanged({ capabilityClass, kinds }) {
      for (const each of all()) {
        const sees = each.capabilityClass === capabilityClass || each.listClass === capabilityClass;
        if (sees) for (const kind of kinds) each.listChanged(kind);
      }
    },
    finishAll() {
      for (const each of [...all()]) each.finish();
    },
  };
}
