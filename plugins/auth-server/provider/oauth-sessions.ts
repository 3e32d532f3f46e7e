import type { JsonObject } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import type { Accounts, Session } from '../accounts/accounts.ts';
import { SUBJECT_SESSION } from '../delegation/token-exchange.ts';
import type { Report } from '../report.ts';
import type { RefreshFamilies } from './refresh-families.ts';

/** The sessions behind issued tokens: one for each sign-in of one client. */
export interface OauthSessions {
  /** Begins a session; its id is the `tsid` claim. */
  begin(session: Omit<Session, 'startedMs'>): Promise<void>;
  /** Extends a session by the lifetime of a refresh token. Returns whether it has not ended. */
  extend(tsid: string): Promise<boolean>;
  /** Ends a session and its refresh tokens. */
  end(tsid: string): Promise<void>;
  /** Whether a token with these claims belongs to a session that has ended. */
  isWithdrawn(claims: JsonObject): boolean | Promise<boolean>;
}

/** How long another replica's end of a session may stay unnoticed. */
const FRESH_MS = 5_000;
/** How long a session counts as alive while the storage does not answer. */
const STALE_MS = 60_000;
const MAX_KNOWN = 50_000;

/** What sessions are made with. */
export interface OauthSessionParts {
  /** After this time without a new token a session ends. */
  readonly ttlMs: number;
  readonly report: Report;
  /** Epoch milliseconds. */
  now(): number;
}

/** Creates the sessions. */
export function createOauthSessions(
  accounts: Accounts,
  families: RefreshFamilies,
  { ttlMs, report, now }: OauthSessionParts,
): OauthSessions {
  const known = new LRUCache<string, { readonly isAlive: boolean; readonly readMs: number }>({ max: MAX_KNOWN });

  async function read(tsid: string): Promise<boolean> {
    const last = known.get(tsid);
    try {
      const isAlive = (await accounts.session(tsid)) !== undefined;
      known.set(tsid, { isAlive, readMs: now() });
      return isAlive;
    } catch (cause) {
      if (last?.isAlive === true && now() - last.readMs < STALE_MS) return true;
      throw cause;
    }
  }

  return {
    async begin(session) {
      await accounts.openSession({ ...session, startedMs: now() }, ttlMs);
      known.set(session.id, { isAlive: true, readMs: now() });
    },
    async extend(tsid) {
      if ((await accounts.session(tsid)) === undefined) return false;
      await accounts.extendSession(tsid, ttlMs);
      return true;
    },
    async end(tsid) {
      known.set(tsid, { isAlive: false, readMs: now() });
      const ended = await accounts.endSession(tsid);
      if (ended !== undefined) {
        report({ change: 'session_revoked', outcome: 'success', person: ended.person, client: ended.clientId });
      }
      await families.end(tsid);
    },
    isWithdrawn(claims) {
      const tsid = claims.tsid ?? claims[SUBJECT_SESSION];
      if (typeof tsid !== 'string') return false;
      const last = known.get(tsid);
      if (last !== undefined && now() - last.readMs < FRESH_MS) return !last.isAlive;
      return read(tsid).then((isAlive) => !isAlive);
    },
  };
}
