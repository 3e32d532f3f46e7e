import { randomUUID } from 'node:crypto';
import type { LinkOwner } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { SessionEnded } from '../contract/event.ts';
import type { StreamParts } from './resumable-stream.ts';
import { type ClientHello, Session } from './session.ts';

/** Why a session ended. */
export type SessionEnd = SessionEnded['reason'];

/** What the table of sessions works with. */
export interface SessionsParts {
  /** Most sessions at once. */
  readonly sessions: number;
  /** A session without use for this long ends. */
  readonly sessionIdleMs: number;
  readonly replayEvents: number;
  readonly replayBytes: number;
  readonly pulse: StreamParts['pulse'];
  readonly streams: StreamParts['streams'];
  now(): number;
  ownerOf(session: Session): LinkOwner;
  /** Told once for each session, when everything of it has ended. */
  ended(session: Session, reason: SessionEnd): void;
}

/** The legacy sessions of one endpoint. */
export interface Sessions {
  /** Opens a session bound to its caller; `undefined` when there is no room for one more. */
  open(caller: Caller, hello: ClientHello): Session | undefined;
  /**
   * The session of an id, its idle time started again. `undefined` when there is none, or when it belongs to somebody
   * else: then it has leaked, and it ends.
   */
  use(id: string, caller: Caller): Session | undefined;
  /** Whether a live session has this id, without using it. */
  has(id: string): boolean;
  end(session: Session, reason: SessionEnd): void;
  all(): Iterable<Session>;
  readonly size: number;
  /** Ends every session and the sweep. */
  stop(): void;
}

/** Makes the table. One sweep ends idle sessions: none of them has a timer of its own. */
export function createSessions(parts: SessionsParts): Sessions {
  const sessions = new Map<string, Session>();
  const { replayEvents, replayBytes, pulse, streams } = parts;
  const primed: StreamParts = { replayEvents, replayBytes, pulse, streams, isPrimed: true };
  const unprimed: StreamParts = { ...primed, isPrimed: false };
  const end = (session: Session, reason: SessionEnd): void => {
    if (!sessions.delete(session.id)) return;
    session.end(`the session has ended (${reason})`);
    parts.ended(session, reason);
  };
  const isIdle = (session: Session): boolean => parts.now() - session.lastUsedMs >= parts.sessionIdleMs;
  const sweep = (): void => {
    for (const session of sessions.values()) {
      session.dropFinished(parts.now() - RESUME_GRACE_MS);
      if (session.isBusy) session.lastUsedMs = parts.now();
      else if (isIdle(session)) end(session, 'expired');
    }
  };
  const timer = setInterval(sweep, Math.max(10, Math.min(parts.sessionIdleMs / 4, MAX_SWEEP_MS)));
  timer.unref();
  const live = (id: string): Session | undefined => {
    const session = sessions.get(id);
    if (session === undefined || session.isBusy || !isIdle(session)) return session;
    end(session, 'expired');
    return undefined;
  };
  return {
    open(caller, hello) {
      if (sessions.size >= parts.sessions) sweep();
      if (sessions.size >= parts.sessions) return undefined;
      const around = hello.protocolVersion >= FIRST_PRIMED ? primed : unprimed; // versions are dates
      const session = new Session(randomUUID(), caller, hello, parts.now(), around, parts.ownerOf);
      sessions.set(session.id, session);
      return session;
    },
    use(id, caller) {
      const session = live(id);
      if (session === undefined) return undefined;
      if (!isSameKey(session.caller.key, caller.key)) {
        end(session, 'stolen');
        return undefined;
      }
      session.caller = caller;
      session.lastUsedMs = parts.now();
      return session;
    },
    has: (id) => live(id) !== undefined,
    end,
    all: () => sessions.values(),
    get size() {
      return sessions.size;
    },
    stop() {
      clearInterval(timer);
      for (const session of [...sessions.values()]) end(session, 'shutdown');
    },
  };
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
