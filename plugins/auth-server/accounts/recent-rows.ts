import type { UpstreamToken } from '@toolmgr/plugins/kit/extension-points';
import { LRUCache } from 'lru-cache';

import type { Session, TokenRow } from './accounts.ts';

/** How long a session and a row that were read are used without reading them again; other replicas may end them meanwhile. */
export const STALE_MS = 5_000;
const MAX_RECENT = 10_000; // sessions, and rows

/** Sessions and rows that were read a moment ago. */
export interface RecentRows {
  session(tsid: string): Session | undefined;
  /** The token of a row that may be used now. */
  token(person: string, provider: string): UpstreamToken | undefined;
  /** The last row, which may be too old to be used. */
  row(person: string, provider: string): TokenRow | undefined;
  keepSession(session: Session): void;
  /** `untilMs`: when the token has to be looked at again; epoch milliseconds. Returns the token. */
  keepRow(person: string, provider: string, row: TokenRow, untilMs: number): UpstreamToken;
  forgetSession(tsid: string): void;
  forgetRow(person: string, provider: string): void;
}

interface KeptRow {
  readonly row: TokenRow;
  readonly token: UpstreamToken;
  readonly untilMs: number;
}

/** Creates an empty cache; `now` returns epoch milliseconds. */
export function createRecentRows(now: () => number): RecentRows {
  const sessions = new LRUCache<string, { readonly session: Session; readonly untilMs: number }>({ max: MAX_RECENT });
  const rows = new LRUCache<string, KeptRow>({ max: MAX_RECENT });
  return {
    session(tsid) {
      const kept = sessions.get(tsid);
      return kept === undefined || kept.untilMs <= now() ? undefined : kept.session;
    },
    token(person, provider) {
      const kept = rows.get(rowKey(person, provider));
      return kept === undefined || kept.untilMs <= now() ? undefined : kept.token;
    },
    row: (person, provider) => rows.get(rowKey(person, provider))?.row,
    keepSession(session) {
      sessions.set(session.id, { session, untilMs: now() + STALE_MS });
    },
    keepRow(person, provider, row, untilMs) {
      const token = tokenFrom(row);
      rows.set(rowKey(person, provider), { row, token, untilMs: Math.min(untilMs, now() + STALE_MS) });
      return token;
    },
    forgetSession: (tsid) => void sessions.delete(tsid),
    forgetRow: (person, provider) => void rows.delete(rowKey(person, provider)),
  };
}

/** A row in maps of this process. Names of providers and ids of people have no NUL. */
export function rowKey(person: string, provider: string): string {
  return `${person}\0${provider}`;
}

function tokenFrom({ tokens, identity, issuedMs }: TokenRow): UpstreamToken {
  const { accessToken, idToken, expiresMs } = tokens;
  return { accessToken, idToken, issuedMs, expiresMs, claims: identity.claims };
}
