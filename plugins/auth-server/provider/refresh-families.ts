import type { JsonObject } from '@toolmgr/core';
import type { AuthStorage, StoredRecord } from '../storage/storage.ts';
import type { SignedTexts } from './signed-texts.ts';

/** What every refresh token of one sign-in stands for. */
export interface RefreshGrant {
  /** The session, the `tsid` claim. */
  readonly tsid: string;
  readonly person: string;
  readonly clientId: string;
  /** Granted scopes, separated by spaces. */
  readonly scope: string;
  /** Audience of the access tokens. */
  readonly resource: string;
}

/** The result of a rotation. */
export type Rotation =
  | {
      readonly grant: RefreshGrant;
      /** The new refresh token. */
      readonly token: string;
      /** The response with the token reached the client. */
      delivered(): Promise<void>;
    }
  | { readonly refused: 'unknown' }
  | { readonly refused: 'reused'; readonly tsid: string };

/** The refresh tokens of all sign-ins: one family each, of which the newest token is valid. */
export interface RefreshFamilies {
  /** Begins a family and returns its first token. */
  begin(grant: RefreshGrant): Promise<string>;
  /** What a valid token stands for, without using it. */
  find(token: string): Promise<RefreshGrant | undefined>;
  /**
   * Exchanges a token for the next one of its family, for the client that it was issued to. `check` runs before, and may throw:
   * then the token stays valid.
   */
  rotate(token: string, clientId: string, check: (grant: RefreshGrant) => Promise<void>): Promise<Rotation>;
  end(tsid: string): Promise<void>;
}

/** How long the token before the newest one gets the newest one again. */
const GRACE_MS = 10_000;
/** Rotations at the same time that are tried before a refusal. */
const MAX_ATTEMPTS = 16;

/**
 * Keeps the families in a storage: one record each, with the number of the newest token and the time of the last rotation.
 *
 * A token is the signed text of its family and number, so that the storage holds no token, and a repeated request gets the same
 * one. The token before the newest is accepted for ten seconds, and longer while the response with the newest was not delivered:
 * the replica that rotated may have ended before it answered. Any older token shows that a token was stolen: `reused`.
 * Source: OAuth 2.1 §4.3.1, RFC 9700 §4.14.2.
 */
export function createRefreshFamilies(
  storage: AuthStorage,
  signed: SignedTexts,
  lifespanMs: number,
  now: () => number,
): RefreshFamilies {
  const load = async (token: string): Promise<{ number: number; record: StoredRecord; family: Family } | undefined> => {
    const [tsid, number] = signed.verify(token)?.split('~') ?? [];
    if (tsid === undefined || number === undefined) return undefined;
    const record = await storage.get(keyOf(tsid));
    const family = record === undefined ? undefined : familyOf(record.value);
    return record === undefined || family === undefined ? undefined : { number: Number(number), record, family };
  };
  const tokenOf = ({ tsid }: RefreshGrant, number: number): string => signed.sign(`${tsid}~${number}`);

  return {
    async begin(grant) {
      await storage.set(
        keyOf(grant.tsid),
        jsonOf({ grant, newest: 1, rotatedMs: now(), isDelivered: true }),
        lifespanMs,
      );
      return tokenOf(grant, 1);
    },
    async find(token) {
      const found = await load(token);
      return found !== undefined && isAccepted(found.family, found.number, now()) ? found.family.grant : undefined;
    },
    async rotate(token, clientId, check) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const found = await load(token);
        if (found === undefined || found.family.grant.clientId !== clientId) return { refused: 'unknown' };
        const { number, record, family } = found;
        const { grant } = family;
        if (!isAccepted(family, number, now())) return { refused: 'reused', tsid: grant.tsid };
        if (attempt === 0) await check(grant);
        const next = number + 1;
        if (number < family.newest) return repeated(family);
        const rotated = { ...family, newest: next, rotatedMs: now(), isDelivered: false };
        if (await storage.replace(keyOf(grant.tsid), record, jsonOf(rotated), lifespanMs)) {
          return { grant, token: tokenOf(grant, next), delivered: () => markDelivered(grant.tsid, next) };
        }
      }
      return { refused: 'unknown' };
    },
    end: (tsid) => storage.delete(keyOf(tsid)),
  };

  function repeated(family: Family): Rotation {
    const { grant, newest } = family;
    return { grant, token: tokenOf(grant, newest), delivered: () => markDelivered(grant.tsid, newest) };
  }

  /** Fails silently when the family was rotated again or ended: then there is nothing to mark. */
  async function markDelivered(tsid: string, number: number): Promise<void> {
    const record = await storage.get(keyOf(tsid));
    const family = record === undefined ? undefined : familyOf(record.value);
    if (record === undefined || family?.newest !== number || family.isDelivered) return;
    await storage.replace(keyOf(tsid), record, jsonOf({ ...family, isDelivered: true }), lifespanMs);
  }
}

interface Family {
  readonly grant: RefreshGrant;
  /** Number of the newest token. */
  readonly newest: number;
  readonly rotatedMs: number;
  readonly isDelivered: boolean;
}

function isAccepted({ newest, rotatedMs, isDelivered }: Family, number: number, nowMs: number): boolean {
  if (number >= newest) return true; // a later one: the storage lost the last write, e.g. by a failover
  return number === newest - 1 && (!isDelivered || nowMs - rotatedMs < GRACE_MS);
}

function keyOf(tsid: string): string {
  return `refresh:${tsid}`;
}

function jsonOf({ grant, ...rest }: Family): JsonObject {
  return { ...grant, ...rest };
}

function familyOf({ tsid, person, clientId, scope, resource, newest, rotatedMs, isDelivered }: JsonObject): Family {
  return {
    grant: {
      tsid: String(tsid),
      person: String(person),
      clientId: String(clientId),
      scope: String(scope),
      resource: String(resource),
    },
    newest: Number(newest),
    rotatedMs: Number(rotatedMs),
    isDelivered: isDelivered === true,
  };
}
