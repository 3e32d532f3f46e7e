import type { BackendRoom } from '../backend/room.ts';
import type { BackendState } from '../contract/backend.ts';

/** What is missing while backends are away. */
export interface Gaps {
  /** Why the lists of a class must not be answered now; `undefined` when they may. */
  inLists(listClass: string): string | undefined;
  /** Backends that keep the gateway from being ready; always none unless all are required. */
  unready(): readonly string[];
  requireAll(): void;
  /** Something about a backend has changed. */
  stale(): void;
}

/**
 * Watches for lists that would lie: with every backend away and nothing known of any, and, once all are required, with
 * one away whose last list is not known. Looks only after a change, so a list costs one comparison.
 */
export function createGaps(room: Pick<BackendRoom, 'states' | 'listings'>): Gaps {
  let allRequired = false;
  let known: { readonly reason: string | undefined } | undefined;
  const look = (): string | undefined => {
    const states = room.states();
    const listed = room.listings('');
    if (allRequired) {
      const missing = states.filter((state) => isAway(state) && !listed.has(state.backend.name));
      return missing.length === 0 ? undefined : `the list would be incomplete, it lacks: ${named(missing)}`;
    }
    const isThere = states.length === 0 || listed.size > 0 || states.some((state) => state.status === 'ready');
    return isThere ? undefined : `no backend is available: ${named(states)}`;
  };
  return {
    inLists(listClass) {
      known ??= { reason: look() };
      const { reason } = known;
      // Nothing is there for everybody, perhaps something for this caller.
      if (reason === undefined || allRequired || room.listings(listClass).size === 0) return reason;
      return undefined;
    },
    unready() {
      if (!allRequired) return [];
      return room.states().flatMap((state) => (isAway(state) ? [state.backend.name] : []));
    },
    requireAll() {
      allRequired = true;
      known = undefined;
    },
    stale() {
      known = undefined;
    },
  };
}

/** A backend that wants a caller's own credentials is there: its lists come with the caller. */
function isAway({ status, health }: BackendState): boolean {
  return status === 'unavailable' || status === 'unknown' || health?.status === 'unhealthy';
}

function named(states: readonly BackendState[]): string {
  return states.map(({ backend, cause, health }) => `${backend.name} (${whyAway(cause, health)})`).join(', ');
}

function whyAway(cause: BackendState['cause'], health: BackendState['health']): string {
  return cause?.category ?? health?.errorCategory ?? 'no answer yet';
}
