import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Caller } from '../../../contract/caller.ts';
import type { SessionOwner } from '../../../contract/client-context.ts';
import type { SessionEnded } from '../../../contract/event.ts';
import type { Inbound } from '../../../contract/inbound.ts';
import type { Limits } from '../../../limits.ts';
import type { ByteBudget, HeldBytes } from '../../../mcp/byte-budget.ts';
import { Shares, shareOf } from '../../../mcp/shares.ts';
import type { StreamParts } from './resumable-stream.ts';
import { type InitializeParams, type ReplicaMark, Session } from './session.ts';
import { isBoundTo, isSessionId, REMEMBERS_END_MS, type SharedSessions } from './session-store.ts';

/** Why a session ended. */
export type SessionEnd = SessionEnded['reason'];

/** Why there is no session: unknown id, limit reached, or the session store does not answer. */
export type MissingSession = 'unknown' | 'full' | 'away';

/** What the table of sessions is made with. */
export interface SessionsParts {
  readonly limits: Pick<
    Limits,
    'sessions' | 'sessionsPerCaller' | 'sessionIdleMs' | 'sessionCheckMs' | 'replayEvents' | 'replayBytes'
  >;
  /** What is stored for resumptions takes a part of it, and is counted apart. */
  readonly bytes: ByteBudget;
  readonly heartbeat: StreamParts['heartbeat'];
  /** The sessions of all replicas; absent without a session store. */
  readonly sharedSessions?: SharedSessions | undefined;
  now(): number;
  ownerOf(session: Session): SessionOwner;
  /** Called once for each session, when everything of it has ended here. */
  ended(session: Session, reason: SessionEnd): void;
}

/** The legacy sessions of one endpoint. Methods that return a promise have used the session store. */
export interface Sessions {
  /**
   * Opens a session bound to its caller. At the limit it replaces an old session of the same caller, or of the caller
   * with the most sessions. `tooLarge` when its record does not fit into the store.
   */
  open(
    caller: Caller,
    hello: InitializeParams,
    inbound?: From,
  ): Session | 'full' | Promise<Session | 'away' | 'tooLarge'>;
  /**
   * The session with this id; restarts its idle time. `unknown` when there is none or when it belongs to another caller:
   * then its id has leaked, and the session is ended.
   */
  use(id: string, caller: Caller, inbound?: From): Session | MissingSession | Promise<Session | MissingSession>;
  /** Whether this may be the id of a live session, without using it. With a store every well-formed id may be one. */
  mayHave(id: string): boolean;
  /** Ends a session for its client, on every replica; `false` when the session store does not answer. */
  close(session: Session): true | Promise<boolean>;
  all(): Iterable<Session>;
  /** Whether other replicas serve these sessions too. */
  readonly isShared: boolean;
  readonly size: number;
  /** Ends every session here, and the sweep. Sessions in the store are kept for other replicas. */
  stop(): void;
}

/** Where a request came from; distinguishes anonymous callers. */
type From = Pick<Inbound, 'remoteAddress'>;

/** Makes the table. One sweep ends idle sessions, instead of one timer per session. */
export function createSessions(parts: SessionsParts): Sessions {
  const { sharedSessions, limits } = parts;
  const sessions = new Map<string, Session>();
  const shares = new Shares<Session>(limits.sessions, limits.sessionsPerCaller);
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  const looks = new Map<string, ReturnType<SharedSessions['look']>>();
  const { heartbeat } = parts;
  const { replayEvents, replayBytes } = limits;
  const { stored } = parts.bytes;
  const primed: StreamParts = { replayEvents, replayBytes, stored, heartbeat, isPrimed: true };
  const unprimed: StreamParts = { ...primed, isPrimed: false };
  const checkMs = Math.min(limits.sessionCheckMs, limits.sessionIdleMs / 4);
  /** `full` without space in the memory of the caller or in the table. */
  const add = (
    id: string,
    caller: Caller,
    hello: InitializeParams,
    openedAtMs: number,
    share: string,
  ): Session | 'full' => {
    const held = stored.holder(share);
    if (!holdHello(held, hello)) return 'full';
    if (!makeRoom(share)) {
      held.release();
      return 'full';
    }
    const around = hello.protocolVersion >= FIRST_PRIMED ? primed : unprimed; // versions are dates
    const session = new Session(
      id,
      caller,
      hello,
      openedAtMs,
      share,
      around,
      parts.ownerOf,
      sharedSessions && randomMark(),
      held,
    );
    session.lastUsedMs = session.placedMs = session.confirmedMs = parts.now();
    sessions.set(id, session);
    shares.add(share, session);
    return session;
  };
  const remove = (session: Session): boolean => {
    shares.delete(session.share, session);
    return sessions.delete(session.id);
  };
  const end = (session: Session, reason: SessionEnd): void => {
    if (!remove(session)) return;
    session.end(reason);
    parts.ended(session, reason);
  };
  const isIdle = (session: Session): boolean => parts.now() - session.lastUsedMs >= limits.sessionIdleMs;
  const sweep = (): void => {
    sweptAtMs = parts.now();
    for (const session of sessions.values()) {
      session.dropFinished(parts.now() - RESUME_GRACE_MS);
      if (session.isBusy) {
        session.lastUsedMs = parts.now();
        if (sharedSessions !== undefined && needsConfirmation(session)) void confirm(sharedSessions, session);
      } else if (isIdle(session)) end(session, 'expired');
    }
  };
  const timer = setInterval(sweep, Math.max(10, Math.min(limits.sessionIdleMs / 4, MAX_SWEEP_MS)));
  timer.unref();
  const live = (id: string): Session | undefined => {
    const session = sessions.get(id);
    if (session === undefined || session.isBusy || !isIdle(session)) return session;
    end(session, 'expired');
    return undefined;
  };
  /** Makes room for one more session of a share; `false` when that is impossible. */
  const makeRoom = (share: string): boolean => {
    if (sessions.size >= limits.sessions && parts.now() - sweptAtMs >= MIN_SWEEP_MS) sweep();
    const donor = shares.donor(share);
    if (donor === undefined) return true;
    const spare = replaceableSession(donor, shares, parts.now());
    if (spare === undefined) return false;
    end(spare, 'displaced');
    void sharedSessions?.strike(spare.id);
    return true;
  };
  const take = (session: Session, caller: Caller): Session | 'unknown' => {
    if (!isSameKey(session.caller.key, caller.key)) {
      end(session, 'stolen');
      void sharedSessions?.end(session.id);
      return 'unknown';
    }
    session.caller = caller;
    session.lastUsedMs = parts.now();
    return session;
  };
  const needsConfirmation = (session: Session): boolean => parts.now() - session.confirmedMs >= checkMs;

  /** Concurrent requests of one session read the store once. */
  const readOnce = (from: SharedSessions, id: string): ReturnType<SharedSessions['look']> => {
    const running = looks.get(id) ?? from.look(id).finally(() => looks.delete(id));
    looks.set(id, running);
    return running;
  };

  /**
   * Whether the session is still open on all replicas. Sessions known here stay usable while the store is unavailable.
   */
  const confirm = async (from: SharedSessions, session: Session): Promise<boolean> => {
    const sinceMs = parts.now() - session.confirmedMs;
    const looked = await readOnce(from, session.id);
    if (looked === 'away' || session.hasEnded) return !session.hasEnded;
    const isLost = looked === 'unknown' && sinceMs < REMEMBERS_END_MS;
    const isThere = typeof looked === 'object' && isBoundTo(looked, session.id, session.caller.key);
    if (!isThere && !isLost) {
      end(session, 'deleted');
      return false;
    }
    if (isLost) await from.write(session);
    session.confirmedMs = parts.now();
    return !session.hasEnded;
  };

  /** Resumes a session that another replica, or this process before a restart, opened. */
  const resume = async (from: SharedSessions, id: string, caller: Caller, inbound: From | undefined) => {
    const looked = await readOnce(from, id);
    if (typeof looked === 'string') return looked === 'away' ? 'away' : 'unknown';
    if (!isBoundTo(looked, id, caller.key)) {
      await from.end(id);
      return 'unknown';
    }
    const known = sessions.get(id); // a concurrent request was first
    if (known !== undefined) return take(known, caller);
    return add(id, caller, looked, looked.openedAtMs, shareOf(caller, inbound?.remoteAddress));
  };

  return {
    open(caller, hello, inbound) {
      const share = shareOf(caller, inbound?.remoteAddress);
      const session = add(randomUUID(), caller, hello, parts.now(), share);
      if (session === 'full' || sharedSessions === undefined) return session;
      return sharedSessions.write(session).then((wrote) => {
        if (wrote === 'written') return session;
        remove(session); // its id was not sent to a client
        session.releaseHello();
        return wrote;
      });
    },
    use(id, caller, inbound) {
      const session = live(id);
      if (session === undefined) {
        return sharedSessions !== undefined && isSessionId(id)
          ? resume(sharedSessions, id, caller, inbound)
          : 'unknown';
      }
      if (sharedSessions === undefined || !needsConfirmation(session)) return take(session, caller);
      const taken = take(session, caller);
      if (taken === 'unknown') return taken;
      return confirm(sharedSessions, session).then((isThere) => (isThere ? session : 'unknown'));
    },
    mayHave: (id) => (sharedSessions === undefined ? live(id) !== undefined : isSessionId(id)),
    close(session) {
      if (sharedSessions === undefined) {
        end(session, 'deleted');
        return true;
      }
      return sharedSessions.end(session.id).then((isEnded) => {
        if (isEnded) end(session, 'deleted');
        return isEnded;
      });
    },
    all: () => sessions.values(),
    isShared: sharedSessions !== undefined,
    get size() {
      return sessions.size;
    },
    stop() {
      clearInterval(timer);
      for (const session of [...sessions.values()]) end(session, 'shutdown');
    },
  };
}

/**
 * The session to replace: one that was unused since it was placed, else the longest unused one without a call. Checked
 * sessions that were used are moved behind the others, so that the next search starts with those that were not.
 */
function replaceableSession(
  oldestFirst: Iterable<Session>,
  shares: Shares<Session>,
  nowMs: number,
): Session | undefined {
  const looked: Session[] = [];
  for (const session of oldestFirst) if (looked.push(session) >= MAX_LOOKED_AT) break;
  let second: Session | undefined;
  for (const session of looked) {
    const isUnused = session.lastUsedMs <= session.placedMs;
    if (isUnused && !session.isBusy) return session;
    if (!session.hasCalls && (second === undefined || session.lastUsedMs < second.lastUsedMs)) second = session;
    session.placedMs = nowMs;
    shares.renew(session.share, session);
  }
  return second;
}

/** Distinguishes streams and requests of this replica from those of another replica for the same session. */
function randomMark(): ReplicaMark {
  return { stream: randomBytes(3).toString('hex'), question: randomInt(2 ** 30) };
}

/** Counts what a client sent with `initialize`, which its session keeps; `false` without space for it. Little is not counted. */
function holdHello(held: HeldBytes, { capabilities, clientInfo }: InitializeParams): boolean {
  const bytes = Buffer.byteLength(JSON.stringify([capabilities, clientInfo]));
  return bytes <= FREE_HELLO_BYTES || held.take(bytes * HEAP_PER_BYTE);
}

const FREE_HELLO_BYTES = 1024;
const HEAP_PER_BYTE = 24; // measured: very many small objects take 21 times the bytes of their JSON

/** Compares in constant time. */
function isSameKey(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

const FIRST_PRIMED = '2025-11-25'; // older clients treat an event without data as a broken message
const RESUME_GRACE_MS = 60_000;
const MAX_SWEEP_MS = 15_000;
const MIN_SWEEP_MS = 1_000; // between two sweeps that make room
const MAX_LOOKED_AT = 64; // sessions checked per replacement
