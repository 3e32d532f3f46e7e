import type { BackendManager } from '../backend/backend-manager.ts';
import type { BackendState } from '../contract/backend.ts';
import type { ExpectedBackend } from '../contract/backend-source.ts';
import { sharedClass } from '../mcp/capabilities.ts';

/** What lists lack while backends are unavailable. */
export interface MissingBackends {
  /** Why the lists of a class must not be answered now; `undefined` when they may. */
  inLists(listClass: string): string | undefined;
  /** Backends missing in the lists of a class that may be answered; `undefined` when none is missing. */
  lacking(listClass: string): readonly MissingBackend[] | undefined;
  /** Text about the backends that an unknown name may belong to, because no list of theirs is known; `undefined` without any. */
  mayBeOf(listClass: string): string | undefined;
  /** Backends that prevent readiness; always empty unless all backends are required. */
  unready(): readonly string[];
  requireAll(): void;
  /** The state of a backend has changed. */
  stale(): void;
}

/** A backend whose entries are missing in a list. */
export interface MissingBackend {
  readonly name: string;
  /** `action_required`: the caller has to do something first, e.g. connect an account. */
  readonly status: 'starting' | 'unavailable' | 'unknown' | 'action_required';
  /** Seconds since when it has had this status; absent for `action_required` and for lists of one caller. */
  readonly seconds?: number;
  /** For `action_required`: what to do, and the link for it. */
  readonly message?: string;
  readonly url?: string;
}

/** What the check needs. */
export interface GapsParts {
  readonly manager: Pick<BackendManager, 'states' | 'listings' | 'required' | 'unread'>;
  /** Backends that their source has not described yet. */
  expected(): readonly ExpectedBackend[];
  now(): number;
}

/**
 * Finds lists that would be wrong: when every backend is unavailable and no lists are known; and, if all backends are
 * required, when one is unavailable and its lists are unknown. Computed only after a change, so a list costs one
 * comparison.
 */
export function createGaps({ manager, expected, now }: GapsParts): MissingBackends {
  let allRequired = false;
  let known: { readonly missing: readonly BackendState[]; readonly isNothingThere: boolean } | undefined;
  const look = (): NonNullable<typeof known> => {
    const states = manager.states();
    const listed = manager.listings('');
    const missing = states.filter((state) => isAway(state) && !listed.has(state.backend.name));
    const isThere = states.length === 0 || listed.size > 0 || states.some((state) => state.status === 'ready');
    return { missing, isNothingThere: !isThere };
  };
  /** While something is missing it is computed each time, because seconds pass and starts are repeated. */
  const found = (): NonNullable<typeof known> => {
    if (known === undefined || known.missing.length > 0 || known.isNothingThere) known = look();
    return known;
  };
  /** Only lists of single callers can wait for the caller. */
  const requiredOf = (listClass: string): readonly MissingBackend[] =>
    sharedClass(listClass) === listClass
      ? []
      : Array.from(manager.required(listClass), ([name, { message, url }]) => {
          return { name, status: 'action_required', message, url };
        });
  /** Backends that have not given this caller its own lists. */
  const unreadOf = (listClass: string): ReadonlyMap<string, string> =>
    sharedClass(listClass) === listClass ? NONE : manager.unread(listClass);
  const secondsSince = (ms: number): number => Math.max(0, Math.floor((now() - ms) / 1000));
  const named = (states: readonly BackendState[]): string =>
    [
      ...states.map((state) => `${state.backend.name} (${whyAway(state, secondsSince)})`),
      ...expected().map(({ name, sinceMs, hasFailed }) =>
        hasFailed === true ? `${name} (cannot be started)` : `${name} (${stillStarting(secondsSince(sinceMs))})`,
      ),
    ].join(', ');
  return {
    inLists(listClass) {
      const { missing, isNothingThere } = found();
      if (allRequired) {
        const isWhole = missing.length === 0 && expected().length === 0;
        return isWhole ? undefined : `the list would be incomplete; missing: ${named(missing)}`;
      }
      // There is nothing for all callers, but perhaps something for this one. Starting backends are announced when they
      // are ready.
      if (!isNothingThere || manager.listings(listClass).size > 0 || requiredOf(listClass).length > 0) return undefined;
      const states = manager.states();
      if (expected().some(isComing) || states.some(isStarting)) return undefined;
      return `no backend is available: ${named(states)}`;
    },
    lacking(listClass) {
      const { missing } = found();
      const awaited = expected();
      const unread = unreadOf(listClass);
      const required = requiredOf(listClass);
      if (missing.length + awaited.length + required.length + unread.size === 0) return undefined;
      const listed = missing.length === 0 ? undefined : manager.listings(listClass);
      const lacking = missing.flatMap((state): MissingBackend[] =>
        listed?.has(state.backend.name) ? [] : [lackingFrom(state, secondsSince)],
      );
      const all = [
        ...lacking,
        ...required,
        ...Array.from(unread.keys(), (name): MissingBackend => ({ name, status: 'unknown' })),
        ...awaited.map((one): MissingBackend => {
          return {
            name: one.name,
            status: isComing(one) ? 'starting' : 'unavailable',
            seconds: secondsSince(one.sinceMs),
          };
        }),
      ];
      return all.length === 0 ? undefined : all;
    },
    mayBeOf(listClass) {
      const { missing } = found();
      const starting = [
        ...missing.flatMap(({ backend: { name }, startingSinceMs, cause }) =>
          startingSinceMs === undefined || cause !== undefined ? [] : [{ name, sinceMs: startingSinceMs }],
        ),
        ...expected().filter(isComing),
      ].map(({ name, sinceMs }) => `${name}, ${secondsSince(sinceMs)} s so far`);
      const others = [
        ...missing.flatMap((state) =>
          isStarting(state) ? [] : [`${state.backend.name} (${whyAway(state, secondsSince)})`],
        ),
        ...expected().flatMap((one) => (isComing(one) ? [] : [`${one.name} (cannot be started)`])),
        ...requiredOf(listClass).map(({ name, message, url }) => `${name} (${message}: ${url})`),
        ...Array.from(unreadOf(listClass), ([name, why]) => `${name} (${why})`),
      ];
      const texts = [
        ...(starting.length === 0 ? [] : [`a backend that is still starting: ${starting.join('; ')}`]),
        ...(others.length === 0 ? [] : [`a backend whose lists are not known now: ${others.join('; ')}`]),
      ];
      return texts.length === 0 ? undefined : texts.join('; or to ');
    },
    unready() {
      if (!allRequired) return [];
      return manager.states().flatMap((state) => (isAway(state) ? [state.backend.name] : []));
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

/** A backend that requires a caller's own credentials is available: its lists come with the caller. */
function isAway({ status, health }: BackendState): boolean {
  return status === 'unavailable' || status === 'unknown' || health?.status === 'unhealthy';
}

function isComing({ hasFailed }: ExpectedBackend): boolean {
  return hasFailed !== true;
}

/** Whether it is being started for the first time; after a failure the cause is more useful. */
function isStarting({ startingSinceMs, cause }: BackendState): boolean {
  return startingSinceMs !== undefined && cause === undefined;
}

function whyAway(state: BackendState, secondsSince: (ms: number) => number): string {
  const { cause, health, startingSinceMs } = state;
  if (startingSinceMs !== undefined && isStarting(state)) return stillStarting(secondsSince(startingSinceMs));
  return cause?.category ?? health?.errorCategory ?? 'no answer yet';
}

function stillStarting(seconds: number): string {
  return `still starting, ${seconds} s so far`;
}

function lackingFrom(state: BackendState, secondsSince: (ms: number) => number): MissingBackend {
  const { backend, status, sinceMs, startingSinceMs } = state;
  if (startingSinceMs !== undefined && isStarting(state)) {
    return { name: backend.name, status: 'starting', seconds: secondsSince(startingSinceMs) };
  }
  return {
    name: backend.name,
    status: status === 'unknown' ? 'unknown' : 'unavailable',
    seconds: secondsSince(sinceMs),
  };
}

const NONE: ReadonlyMap<string, string> = new Map();
