import { createHash } from 'node:crypto';
import {
  type Caller,
  GatewayFault,
  LONGEST_TIMER_MS,
  type Log,
  nearest,
  UserActionRequired,
  within,
} from '@toolmgr/core';
import type { UpstreamToken, UpstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { LRUCache } from 'lru-cache';

import type { AuthStorage } from '../storage/storage.ts';
import type { Session, TokenRow } from './accounts.ts';
import { type RecentRows, rowKey } from './recent-rows.ts';
import { isRefreshable, isUsable, type NeededToken, needsRefresh, usableUntil } from './refresh-need.ts';
import type { TokenRefresher } from './refresh-tokens.ts';
import { createSessions } from './sessions.ts';
import type { TokenRows } from './token-rows.ts';

const MAX_REFUSED = 10_000; // rows with a token that a backend refused, and rows whose refresh failed
const FRESH_MS = 5_000; // the refusal of a token this new may be about the one before
const FORCED_MS = 60_000; // between two refreshes that a backend caused
const RETRY_MS = 5_000; // after a refresh that failed without a decision of the provider

/** What {@link createUpstreamTokens} needs. */
export interface UpstreamTokensParts {
  /** Issuer of the callers that have upstream tokens. */
  readonly issuer: string;
  /** Names of the providers in the order of sign-in. */
  readonly providers: readonly string[];
  readonly storage: AuthStorage;
  readonly rows: TokenRows;
  readonly recent: RecentRows;
  readonly refresher: TokenRefresher;
  readonly log: Log;
  /** The link that leads a person to a provider. */
  connectUrl(person: string, provider: string): string | Promise<string>;
  /** Epoch milliseconds. */
  now(): number;
}

interface Failure {
  readonly cause: unknown;
  readonly untilMs: number;
}

/** What the slot `upstreamTokens` does for callers. */
export type CallerTokens = Pick<UpstreamTokens, 'known' | 'obtain' | 'refused' | 'signInAgain'>;

/** Creates what the slot `upstreamTokens` does. Tokens belong to the caller of the current request, never to whom a session was opened for. */
export function createUpstreamTokens(parts: UpstreamTokensParts): CallerTokens {
  const { issuer, providers, rows, recent, refresher, log, now } = parts;
  const sessions = createSessions(parts.storage);
  const obtaining = new Map<string, Promise<UpstreamToken>>();
  const refused = new LRUCache<string, string>({ max: MAX_REFUSED });
  const forced = new LRUCache<string, number>({ max: MAX_REFUSED });
  const failed = new LRUCache<string, Failure>({ max: MAX_REFUSED });

  const signedIn = async (who: Who): Promise<Session> => {
    const session = recent.session(who.tsid) ?? (await sessions.find(who.tsid));
    if (session?.person !== who.person) {
      throw new GatewayFault('AUTH_STRATEGY_REFUSED', 'the sign-in of this caller has ended: sign in again');
    }
    recent.keepSession(session);
    return session;
  };
  const isRefused = (key: string, row: TokenRow): boolean => refused.get(key) === digestOf(row);

  const currentRow = async (person: string, provider: string, need: NeededToken): Promise<TokenRow | undefined> => {
    const key = rowKey(person, provider);
    const isWanted = (row: TokenRow): boolean =>
      isRefreshable(row) && (needsRefresh(row, need, now()) || isRefused(key, row));
    const row = (await rows.read(person, provider))?.row;
    if (row === undefined || !isWanted(row)) return row;
    try {
      const failure = failed.get(key);
      if (failure !== undefined && failure.untilMs > now()) throw failure.cause;
      const refreshed = await refresher.refresh(person, provider, isWanted);
      if (refreshed === undefined || !isWanted(refreshed)) return refreshed;
      return await refresher.refresh(person, provider, isWanted); // the first one was for the other token
    } catch (cause) {
      if (failed.get(key)?.cause !== cause) {
        failed.set(key, { cause, untilMs: now() + RETRY_MS });
        log.warn('an upstream token could not be refreshed', {
          provider,
          code: codeOf(cause),
          // not its causes: they may have tokens
          ...(cause instanceof GatewayFault ? { cause: cause.message } : {}),
        });
      }
      if (isUsable(row, need, now()) && !isRefused(key, row)) return row;
      throw cause;
    }
  };
  const obtainNow = async (who: Who, provider: string, need: NeededToken): Promise<UpstreamToken> => {
    const { person } = await signedIn(who);
    const key = rowKey(person, provider);
    const row = await currentRow(person, provider, need);
    const isValid = row !== undefined && isUsable(row, need, now()) && !isRefused(key, row);
    if (!isValid) {
      recent.forgetRow(person, provider);
      const message = row === undefined ? `connect your account at ${provider}` : againAt(provider);
      throw new UserActionRequired(message, await parts.connectUrl(person, provider));
    }
    const isLate = isRefreshable(row) && needsRefresh(row, 'accessToken', now());
    return recent.keepRow(person, provider, row, isLate ? (row.tokens.expiresMs ?? 0) : usableUntil(row));
  };
  return {
    known(caller, provider) {
      const who = whoIs(caller, issuer);
      if (who === undefined || recent.session(who.tsid)?.person !== who.person) return undefined;
      return recent.token(who.person, provider);
    },
    async obtain(caller, provider, signal, need = 'accessToken') {
      if (!providers.includes(provider)) throw unknownProvider(provider, providers);
      const who = whoIs(caller, issuer);
      if (who === undefined) throw new GatewayFault('AUTH_STRATEGY_REFUSED', whyNone(caller, issuer));
      const key = [who.tsid, who.person, provider, need].join('\0');
      let shared = obtaining.get(key);
      if (shared === undefined) {
        shared = obtainNow(who, provider, need).finally(() => obtaining.delete(key));
        obtaining.set(key, shared);
      }
      return (await within(LONGEST_TIMER_MS, signal, shared)) as UpstreamToken;
    },
    refused(caller, provider) {
      const person = whoIs(caller, issuer)?.person;
      const row = person === undefined ? undefined : recent.row(person, provider);
      if (person === undefined || row === undefined || !isRefreshable(row)) return false;
      const key = rowKey(person, provider);
      const forcedMs = forced.get(key);
      if (now() - row.issuedMs < FRESH_MS) return forcedMs !== undefined;
      if (forcedMs !== undefined && now() - forcedMs < FORCED_MS) return false;
      forced.set(key, now());
      refused.set(key, digestOf(row));
      recent.forgetRow(person, provider);
      return true;
    },
    async signInAgain(caller, provider) {
      const who = whoIs(caller, issuer);
      if (who === undefined) return new GatewayFault('AUTH_STRATEGY_REFUSED', whyNone(caller, issuer));
      return new UserActionRequired(againAt(provider), await parts.connectUrl(who.person, provider));
    },
  };
}

function againAt(provider: string): string {
  return `sign in at ${provider} again`;
}

interface Who {
  readonly person: string;
  readonly tsid: string;
}

/** The person and the session of a caller; `undefined` when it has none here. */
export function whoIs({ issuer, claims }: Caller, own: string): Who | undefined {
  const { sub: person, tsid } = claims;
  if (typeof tsid !== 'string' || typeof person !== 'string') return undefined;
  return issuer === own || issuer === `${own}/` ? { person, tsid } : undefined;
}

function whyNone({ issuer, claims }: Caller, own: string): string {
  if (issuer === '') return 'upstream tokens need a caller who signed in, and this one is anonymous';
  if (issuer !== own && issuer !== `${own}/`) return `upstream tokens need a caller who signed in at ${own}`;
  if (claims.tsid === undefined) {
    return 'this token has no claim tsid: it was not issued to a person who signed in, but by delegation or to a program';
  }
  return 'the claims sub and tsid of this token are not texts';
}

function unknownProvider(provider: string, providers: readonly string[]): GatewayFault {
  const meant = nearest(provider, providers);
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`;
  return new GatewayFault('AUTH_STRATEGY_FAILED', `there is no upstream provider "${provider}"${hint}`);
}

function digestOf({ tokens }: TokenRow): string {
  return createHash('sha256').update(tokens.accessToken.reveal()).digest('base64');
}

function codeOf(cause: unknown): string {
  return cause instanceof GatewayFault ? cause.code : 'unknown';
}
