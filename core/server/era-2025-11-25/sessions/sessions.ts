import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Caller } from '../../../contract/caller.ts';
import type { SessionOwner } from '../../../contract/client-context.ts';
import type { SessionEnded } from '../../../contract/event.ts';
import type { Inbound } from '../../../contract/inbound.ts';
import type { Limits } from '../../../limits.ts';
import { Shares, shareOf } from '../../../mcp/shares.ts';
import type { StreamParts } from './resumable-stream.ts';
import { type ClientHello, Session, type SessionMark } from './session.ts';
import { isBoundTo, isSessionId } from './session-record.ts';
import { REMEMBERS_END_MS, type SharedSessions } from './session-store.ts';

/** Why a session ended. */
export type SessionEnd = SessionEnded['reason'];

/** Why there is no session: none of that id, no room for one more, or the session store does not answer. */
export type Missing = 'unknown' | 'full' | 'away';

/** What the table of sessions works with. */
export interface SessionsParts {
  readonly limits: Pick<
    Limits,
    'sessions' | 'sessionsPerCaller' | 'sessionIdleMs' | 'sessionCheckMs' | 'replayEvents' | 'replayBytes'
  >;
  readonly heartbeat: StreamParts['heartbeat'];
  /** The sessions of all replicas; without it those of this gateway are all there are. */
  readonly sharedSessions?: SharedSessions | undefined;
  now(): number;
  ownerOf(session: Session): SessionOwner;
  /** Told once for each session, when everything of it has ended here. */
  ended(session: Session, reason: SessionEnd): void;
}

/** The legacy sessions of one endpoint. What answers with a promise has asked the session store. */
export interface Sessions {
  /**
   * Opens a session bound to its caller. One that finds no place takes that of an old one of the same caller, or of the
   * caller that has the most. `tooLarge` when a record of it has no place in the store.
   */
  open(caller: Caller, hello: ClientHello, inbound?: From): Session | 'full' | Promise<Session | 'away' | 'tooLarge'>;
  /**
   * The session of an id, its idle time started again. `unknown` when there is none, or when it belongs to somebody
   * else: then it has leaked, and it ends.
   */
  use(id: string, caller: Caller, inbound?: From): Session | Missing | Promise<Session | Missing>;
  /** Whether a live session may have this id, without using it. With a store any well-formed id may be one. */
  mayHave(id: string): boolean;
  /** Ends a session as its client wishes, on every replica; `false` when the session store does not answer. */
  close(session: Session): true | Promise<boolean>;
  all(): Iterable<Session>;
  /** Other replicas serve these sessions too. */
  readonly isShared: boolean;
  readonly size: number;
  /** Ends every session here, and the sweep. What is in the store stays for other replicas. */
  stop(): void;
}

/** Where a request came from: callers without an identity are told apart by it. */
type From = Pick<Inbound, 'remoteAddress'>;

/** Makes the table. One sweep ends idle sessions: none of them has a timer of its own. */
export function createSessions(parts: SessionsParts): Sessions {
  const { sharedSessions, limits } = parts;
  const sessions = new Map<string, Session>();
  const shares = new Shares<Session>(limits.sessions, limits.sessionsPerCaller);
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  const looks = new Map<string, ReturnType<SharedSessions['look']>>();
  const { heartbeat } = parts;
  const { replayEvents, replayBytes } = limits;
  const primed: StreamParts = { replayEvents, replayBytes, heartbeat, isPrimed: true };
  const unprimed: StreamParts = { ...primed, isPrimed: false };
  const checkMs = Math.min(limits.sessionCheckMs, limits.sessionIdleMs / 4);
  const add = (id: string, caller: Caller, hello: ClientHello, openedAtMs: number, share: string): Session => {
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
    session.end(`the session has ended (${reason})`);
    parts.ended(session, reason);
  };
  const isIdle = (session: Session): boolean => parts.now() - session.lastUsedMs >= limits.sessionIdleMs;
  const sweep = (): void => {
    sweptAtMs = parts.now();
    for (const session of sessions.values()) {
      session.dropFinished(parts.now() - RESUME_GRACE_MS);
      if (session.isBusy) {
        session.lastUsedMs = parts.now();
        if (sharedSessions !== undefined && isDue(session)) void confirm(sharedSessions, session);
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
  /** Sees to a place for one more session of a share; `false` when there is none to be had. */
  const makeRoom = (share: string): boolean => {
    if (sessions.size >= limits.sessions && parts.now() - sweptAtMs >= MIN_SWEEP_MS) sweep();
    const donor = shares.donor(share);
    if (donor === undefined) return true;
    const spare = spareOf(donor, shares, parts.now());
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
  const isDue = (session: Session): boolean => parts.now() - session.confirmedMs >= checkMs;

  /** Requests that come together ask once. */
  const lookOnce = (from: SharedSessions, id: string): ReturnType<SharedSessions['look']> => {
    const running = looks.get(id) ?? from.look(id).finally(() => looks.delete(id));
    looks.set(id, running);
    return running;
  };

  /** Whether no other replica has ended a session of this one. What is known here goes on while the store is away. */
  const confirm = async (from: SharedSessions, session: Session): Promise<boolean> => {
    const sinceMs = parts.now() - session.confirmedMs;
    const looked = await lookOnce(from, session.id);
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

  /** A session that another replica opened, or this process before it was started again. */
  const restore = async (
    from: SharedSessions,
    id: string,
    caller: Caller,
    inbound: From | undefined,
  ): Promise<Session | Missing> => {
    const looked = await lookOnce(from, id);
    if (typeof looked === 'string') return looked === 'away' ? 'away' : 'unknown';
    if (!isBoundTo(looked, id, caller.key)) {
      await from.end(id);
      return 'unknown';
    }
    const known = sessions.get(id); // another request of the same moment was first
    if (known !== undefined) return take(known, caller);
    const share = shareOf(caller, inbound?.remoteAddress);
    return makeRoom(share) ? add(id, caller, looked, looked.openedAtMs, share) : 'full';
  };

  return {
    open(caller, hello, inbound) {
      const share = shareOf(caller, inbound?.remoteAddress);
      if (!makeRoom(share)) return 'full';
      const session = add(randomUUID(), caller, hello, parts.now(), share);
      if (sharedSessions === undefined) return session;
      return sharedSessions.write(session).then((wrote) => {
        if (wrote === 'written') return session;
        remove(session); // nobody knows its id
        return wrote;
      });
    },
    use(id, caller, inbound) {
      const session = live(id);
      if (session === undefined) {
        return sharedSessions !== undefined && isSessionId(id)
          ? restore(sharedSessions, id, caller, inbound)
          : 'unknown';
      }
      if (sharedSessions === undefined || !isDue(session)) return take(session, caller);
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
 * The session that nobody misses most: unused since it was placed, else used but without a call. What is looked at and was
 * used goes behind the others, so that the next look begins with those that were not.
 */
function spareOf(oldestFirst: Iterable<Session>, shares: Shares<Session>, nowMs: number): Session | undefined {
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

/** Tells streams and questions of one replica from those that another has of the same session. */
function randomMark(): SessionMark {
  return { stream: randomBytes(3).toString('hex'), question: randomInt(2 ** 30) };
}

/** Compares without telling by its time how much of a key was right. */
function isSameKey(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

const FIRST_PRIMED = '2025-11-25'; // older clients take an event without data for a broken message
const RESUME_GRACE_MS = 60_000;
const MAX_SWEEP_MS = 15_000;
const MIN_SWEEP_MS = 1_000; // between two sweeps for want of room
const MAX_LOOKED_AT = 64; // sessions, for one that makes room
