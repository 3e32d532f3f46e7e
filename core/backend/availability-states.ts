import type { BackendHealth, BackendHello, BackendStatus } from '../contract/backend.ts';
import type { Era } from '../contract/era.ts';
import { type BackOff, backOffMs } from '../timing/back-off.ts';
import type { BackendListing } from './backend-manager.ts';
import { type ConnectionFailure, categoryOf } from './failure.ts';
import type { JsonRpcConnection } from './sessions/json-rpc-connection.ts';

const RETRY: BackOff = { firstMs: 500, maxMs: 30_000 };
/** A program that cannot be started, such as a package that does not exist, seldom appears by itself. */
const RETRY_ABSENT: BackOff = { firstMs: 10_000, maxMs: 600_000 };
/** A connection that ended after this time is reopened at once; one that ended sooner may be part of a crash loop. */
const STABLE_MS = 10_000;
/** A suspicion has no effect for this long after a successful connection. */
const SUSPECT_IGNORED_MS = 1_000;

/** A session, and the lists read through it. */
export interface ReadLists {
  readonly connection: JsonRpcConnection;
  readonly listing: BackendListing;
}

/** What is done about the connection. */
export type Link =
  /** Nothing: it is open, or the backend was not started yet. */
  | { readonly is: 'idle' }
  /** An attempt runs. `pauseMs`: until the next one; 0 when it has succeeded, `undefined` while its outcome is unknown. */
  | { readonly is: 'connecting'; readonly sinceMs: number; readonly pauseMs: number | undefined }
  /** A timer starts the next attempt. */
  | { readonly is: 'pausing' }
  /** Final: the backend was removed. */
  | { readonly is: 'removed' };

/** Whether one backend is available, and what is done about it. */
export interface AvailabilityState {
  readonly status: BackendStatus;
  readonly link: Link;
  /** Why the backend is not ready. */
  readonly cause: unknown;
  /** Epoch milliseconds of the last change of the status, and of the last successful connection. */
  readonly sinceMs: number;
  readonly readyAtMs: number;
  readonly hello: BackendHello | undefined;
  readonly era: Era | undefined;
  /** What a monitor reported last; an excluded backend gets no calls, and its lists are withdrawn after the grace period. */
  readonly health: BackendHealth | undefined;
  readonly isExcluded: boolean;
  /** The last probe has not succeeded: the next one opens a new connection. */
  readonly hasFailedProbe: boolean;
  readonly hasBeenReady: boolean;
  /** Failed attempts since the last success, and connections in a row that ended soon. */
  readonly failures: number;
  readonly shortConnections: number;
  /** Epoch milliseconds before which no probe tries a program again that could not be started. */
  readonly restsUntilMs: number;
}

/** What happens to a backend. */
export type AvailabilityEvent =
  /** It is wanted: at its start, after a pause, or for a probe. */
  | { readonly is: 'wanted' }
  /** A new session is wanted. */
  | { readonly is: 'renewed' }
  /** A failed request suggests that it is down. */
  | { readonly is: 'suspected' }
  /** The attempt succeeded, or failed; then it ends. */
  | { readonly is: 'connected'; readonly read: ReadLists }
  | { readonly is: 'failed'; readonly cause: unknown }
  | { readonly is: 'ended' }
  /** A session ended: the gateway's own, or that of an owner. */
  | { readonly is: 'lost'; readonly cause: ConnectionFailure; readonly isOwn: boolean }
  /** A session of an owner was opened in this era before the gateway's own session. */
  | { readonly is: 'era-seen'; readonly era: Era }
  /** A monitor reports its health. */
  | { readonly is: 'health'; readonly health: BackendHealth }
  /** A probe begins, or has succeeded. */
  | { readonly is: 'probed' }
  | { readonly is: 'answered' }
  | { readonly is: 'removed' };

/** What has to be done after an event, in this order. */
export type AvailabilityEffect =
  /** One attempt: open the gateway's own session and read its lists. */
  | { readonly do: 'connect' }
  /** Set the timer of the next attempt; it replaces an earlier one. */
  | { readonly do: 'retry'; readonly afterMs: number }
  | { readonly do: 'cancel-retry' }
  /** The next attempt opens a new session. */
  | { readonly do: 'renew-session' }
  /** Change notifications of the gateway's own session are not received any more. */
  | { readonly do: 'stop-listening' }
  | { readonly do: 'close-pooled' }
  /** What was known about the lists is outdated; then these are its lists. */
  | { readonly do: 'outdate-lists'; readonly era: Era }
  | { readonly do: 'serve-lists'; readonly read: ReadLists }
  /** Calls can be sent again, or not any more. */
  | { readonly do: 'resume-calls' }
  | { readonly do: 'stop-calls' }
  /** The status or the category of its cause changed. */
  | { readonly do: 'announce' }
  | { readonly do: 'note'; readonly what: string; readonly cause: unknown };

/** Epoch milliseconds, and the random part of a pause, from 0 to 1. */
export interface Moment {
  readonly nowMs: number;
  readonly chance: number;
}

/** The next state and what has to be done. */
export type Step = readonly [next: AvailabilityState, effects: readonly AvailabilityEffect[]];

/** A backend that was not started yet. */
export function newBackend(nowMs: number): AvailabilityState {
  return {
    status: 'unknown',
    link: IDLE,
    cause: undefined,
    sinceMs: nowMs,
    readyAtMs: 0,
    hello: undefined,
    era: undefined,
    health: undefined,
    isExcluded: false,
    hasFailedProbe: false,
    hasBeenReady: false,
    failures: 0,
    shortConnections: 0,
    restsUntilMs: 0,
  };
}

/** What an event changes. Pure. Nothing happens to a removed backend any more. */
export function step(state: AvailabilityState, event: AvailabilityEvent, moment: Moment): Step {
  if (state.link.is === 'removed') return [state, NONE];
  return (ON[event.is] as Reaction<AvailabilityEvent>)(state, event, moment);
}

type Reaction<E> = (state: AvailabilityState, event: E, moment: Moment) => Step;
type EventOf<K> = Extract<AvailabilityEvent, { readonly is: K }>;

const ON: { readonly [K in AvailabilityEvent['is']]: Reaction<EventOf<K>> } = {
  wanted(state, _, { nowMs }) {
    const { link } = state;
    if (link.is === 'connecting') return [state, NONE];
    const next: AvailabilityState = { ...state, link: { is: 'connecting', sinceMs: nowMs, pauseMs: undefined } };
    return [next, link.is === 'pausing' ? [{ do: 'cancel-retry' }, { do: 'connect' }] : [{ do: 'connect' }]];
  },

  renewed(state, _, moment) {
    if (state.link.is === 'connecting') return [state, NONE];
    const [next, effects] = step(state, { is: 'wanted' }, moment);
    return [next, [{ do: 'stop-listening' }, { do: 'renew-session' }, ...effects]];
  },

  suspected(state, _, moment) {
    const isPassing = moment.nowMs - state.readyAtMs < SUSPECT_IGNORED_MS;
    return state.status !== 'ready' || isPassing ? [state, NONE] : step(state, { is: 'renewed' }, moment);
  },

  connected(state, { read }, { nowMs }) {
    const { link } = state;
    if (link.is !== 'connecting') return [state, NONE];
    const { hello, era } = read.connection;
    const success = {
      link: { ...link, pauseMs: 0 },
      failures: 0,
      hasBeenReady: true,
      hasFailedProbe: false,
      readyAtMs: nowMs,
      hello,
      era,
    } as const;
    const [next, announced] = entered({ ...state, ...success }, 'ready', undefined, nowMs);
    return [next, [{ do: 'outdate-lists', era }, ...announced, { do: 'serve-lists', read }]];
  },

  failed(state, { cause }, moment) {
    if (state.link.is !== 'connecting') return [state, NONE];
    const failures = state.failures + 1;
    return becameUnavailable({ ...state, failures }, cause, failures, moment);
  },

  ended(state) {
    if (state.link.is !== 'connecting' || state.link.pauseMs === undefined) return [state, NONE];
    const { pauseMs } = state.link;
    if (pauseMs === 0) return [{ ...state, link: IDLE }, NONE];
    return [{ ...state, link: { is: 'pausing' } }, [{ do: 'retry', afterMs: pauseMs }]];
  },

  lost(state, { cause, isOwn }, moment) {
    if (state.status !== 'ready' || state.link.is === 'connecting') return [state, NONE];
    // A server that lost one session has probably lost all.
    if (!isOwn) return cause.category === 'session' ? step(state, { is: 'suspected' }, moment) : [state, NONE];
    const isShort = moment.nowMs - state.readyAtMs < STABLE_MS;
    const shortConnections = isShort ? state.shortConnections + 1 : 0;
    const counted: AvailabilityState = { ...state, shortConnections };
    if (shortConnections > 1) return becameUnavailable(counted, cause, shortConnections - 1, moment);
    const [next, effects] = step(counted, { is: 'wanted' }, moment);
    return [next, [{ do: 'stop-listening' }, { do: 'note', what: 'backend lost; reconnecting', cause }, ...effects]];
  },

  'era-seen': (state, { era }) => [{ ...state, era: state.era ?? era }, NONE],

  health(state, { health }) {
    const isExcluded = health.status === 'unhealthy';
    const next: AvailabilityState = { ...state, health, isExcluded };
    if (isExcluded === state.isExcluded || state.status !== 'ready') return [next, NONE];
    return [next, [{ do: isExcluded ? 'stop-calls' : 'resume-calls' }]];
  },

  probed: (state) => [{ ...state, hasFailedProbe: true }, NONE],

  answered: (state) => [{ ...state, hasFailedProbe: false }, NONE],

  removed: (state) => [{ ...state, link: { is: 'removed' } }, [{ do: 'cancel-retry' }]],
};

function becameUnavailable(state: AvailabilityState, cause: unknown, attempt: number, moment: Moment): Step {
  const category = categoryOf(cause);
  const status = category === 'unauthenticated' ? 'unauthenticated' : 'unavailable';
  const isNews = state.status === 'ready' || state.status === 'unknown';
  const wasAvailable = state.status === 'ready' || (state.status === 'unauthenticated' && status === 'unavailable');
  const isAbsent = ABSENT.has(category);
  const pauseMs = backOffMs(attempt, isAbsent ? RETRY_ABSENT : RETRY, moment.chance);
  const restsUntilMs = isAbsent ? moment.nowMs + pauseMs : 0;
  // The pause begins when the attempt has ended.
  const { link } = state;
  const paused: Link = link.is === 'connecting' ? { ...link, pauseMs } : { is: 'pausing' };
  const [next, announced] = entered({ ...state, link: paused, restsUntilMs }, status, cause, moment.nowMs);
  const effects: AvailabilityEffect[] = [{ do: 'stop-listening' }, { do: 'renew-session' }];
  if (isNews) effects.push({ do: 'note', what: 'backend is unavailable', cause });
  if (wasAvailable && !state.isExcluded) effects.push({ do: 'stop-calls' });
  if (wasAvailable) effects.push({ do: 'close-pooled' });
  effects.push(...announced);
  if (paused.is === 'pausing') effects.push({ do: 'retry', afterMs: pauseMs });
  return [next, effects];
}

/** A new status, announced if it or the category of its cause differs. */
function entered(state: AvailabilityState, status: BackendStatus, cause: unknown, nowMs: number): Step {
  const isSame = state.status === status && categoryOf(state.cause) === categoryOf(cause);
  return isSame ? [{ ...state, cause }, NONE] : [{ ...state, cause, status, sinceMs: nowMs }, [{ do: 'announce' }]];
}

const IDLE: Link = { is: 'idle' };
const NONE: readonly AvailabilityEffect[] = [];

/** Programs and packages that are not there: a repeat helps only after someone has added them. */
const ABSENT: ReadonlySet<string> = new Set(['spawn', 'absent']);
