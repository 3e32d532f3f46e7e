import type { Caller } from '../../../contract/caller.ts';
import type { Session } from './session.ts';
import { isBoundTo } from './session-record.ts';
import type { SharedSessions } from './session-store.ts';

/** A session as the session store holds it. */
export type StoredSession = Exclude<Awaited<ReturnType<SharedSessions['look']>>, string>;

/** What resuming a session needs of the sessions of this process. */
export interface ResumeParts {
  /** Reads the session from the store; concurrent requests share one read. */
  read(from: SharedSessions, id: string): ReturnType<SharedSessions['look']>;
  /** The session, if this process has it. */
  known(id: string): Session | undefined;
  /** Uses a known session for a request of the caller. */
  use(session: Session, caller: Caller): Session | 'unknown';
  /** Adds the restored session; `full` at the limit. */
  add(id: string, caller: Caller, stored: StoredSession): Session | 'full';
}

/** Resumes a session that another replica, or this process before a restart, opened. */
export async function resumeSession(
  from: SharedSessions,
  id: string,
  caller: Caller,
  parts: ResumeParts,
): Promise<Session | 'unknown' | 'full' | 'away'> {
  const looked = await parts.read(from, id);
  if (typeof looked === 'string') return looked === 'away' ? 'away' : 'unknown';
  if (!isBoundTo(looked, id, caller.key)) {
    await from.end(id);
    return 'unknown';
  }
  const known = parts.known(id); // a concurrent request was first
  return known === undefined ? parts.add(id, caller, looked) : parts.use(known, caller);
}
