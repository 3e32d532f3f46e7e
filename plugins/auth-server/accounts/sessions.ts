import type { JsonObject } from '@toolmgr/core';
import type { AuthStorage } from '../storage/storage.ts';
import type { Session } from './accounts.ts';
import { KEYS } from './storage-keys.ts';

const PRUNED_ABOVE = 64; // members of the set of one person, before those of expired sessions are removed

/** Records of sessions. */
export interface Sessions {
  open(session: Session, ttlMs: number): Promise<void>;
  find(tsid: string): Promise<Session | undefined>;
  /** Those of a person that have not ended, the newest first. */
  of(person: string): Promise<readonly Session[]>;
  /** Returns the session; `undefined` when it has ended. */
  extend(tsid: string, ttlMs: number): Promise<Session | undefined>;
  /** Ends a session. Returns it, and whether it was the person's last one; `undefined` when it had ended before. */
  end(tsid: string): Promise<{ readonly session: Session; readonly isLast: boolean } | undefined>;
}

/** Creates the records on a storage. */
export function createSessions(storage: AuthStorage): Sessions {
  const find = async (tsid: string): Promise<Session | undefined> => {
    const found = await storage.get(KEYS.session(tsid));
    return found === undefined ? undefined : sessionFrom(tsid, found.value);
  };
  const liveOf = async (person: string, members: readonly string[]): Promise<readonly Session[]> => {
    const live: Session[] = [];
    for (const tsid of members) {
      const session = await find(tsid);
      if (session === undefined) await storage.removeMember(KEYS.sessionsOf(person), tsid);
      else live.push(session);
    }
    return live;
  };
  const hasSession = async (person: string): Promise<boolean> => {
    for (const tsid of await storage.members(KEYS.sessionsOf(person))) {
      if ((await find(tsid)) !== undefined) return true;
    }
    return false;
  };
  return {
    async open({ id, person, clientId, clientName, startedMs }, ttlMs) {
      const members = await storage.members(KEYS.sessionsOf(person));
      if (members.length > PRUNED_ABOVE) await liveOf(person, members);
      const record = { person, clientId, startedMs, ...(clientName === undefined ? {} : { clientName }) };
      await storage.set(KEYS.session(id), record, ttlMs);
      try {
        await storage.addMember(KEYS.sessionsOf(person), id, ttlMs);
      } catch (cause) {
        await storage.delete(KEYS.session(id)).catch(() => undefined); // one person must not fill the storage of all
        throw cause;
      }
    },
    find,
    async of(person) {
      const live = await liveOf(person, await storage.members(KEYS.sessionsOf(person)));
      return live.toSorted((one, other) => other.startedMs - one.startedMs);
    },
    async extend(tsid, ttlMs) {
      const session = await find(tsid);
      if (session === undefined) return undefined;
      await storage.touch(KEYS.session(tsid), ttlMs);
      await storage.addMember(KEYS.sessionsOf(session.person), tsid, ttlMs);
      return session;
    },
    async end(tsid) {
      const taken = await storage.take(KEYS.session(tsid));
      const session = taken === undefined ? undefined : sessionFrom(tsid, taken.value);
      if (session === undefined) return undefined;
      await storage.removeMember(KEYS.sessionsOf(session.person), tsid);
      return { session, isLast: !(await hasSession(session.person)) };
    },
  };
}

function sessionFrom(id: string, { person, clientId, clientName, startedMs }: JsonObject): Session | undefined {
  if (typeof person !== 'string' || typeof clientId !== 'string' || typeof startedMs !== 'number') return undefined;
  return { id, person, clientId, startedMs, ...(typeof clientName === 'string' ? { clientName } : {}) };
}
