import { hash } from 'node:crypto';
import { type Caller, GatewayFault, type Inbound, type JsonObject, networkOf, type Refusal } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import { readBearer } from './bearer.ts';
import { callerFromClaims } from './caller-from-claims.ts';
import { NoPlace } from './places.ts';
import { type Objection, refusalOf, UNDECIDED } from './refusals.ts';
import { CLOCK_LEEWAY_S } from './verify-jwt.ts';

/** How tokens are judged and for how long that holds. */
export interface TokenVerifierParts {
  readonly issuer: string;
  now(): number;
  /** The challenge of a refusal to this request. */
  challenge(inbound: Inbound): string;
  /**
   * Claims or the objection. `network`: where the token came from. `isLookup`: the answer may change before the token expires.
   * @throws GatewayFault REMOTE_REFUSED, REMOTE_UNAVAILABLE, NoPlace when nobody can tell
   */
  judge(
    token: string,
    network: string,
  ): Promise<{ readonly verdict: JsonObject | Objection; readonly isLookup: boolean }>;
  /** Told with every known token: cheap, and the one thing that runs when all tokens are known. */
  onKnown(): void;
}

/** Who holds which token. */
export interface TokenVerifier {
  /** The caller of a token that was verified before, or a refusal that needs no look; `undefined` = ask `verify`. */
  known(inbound: Inbound): Caller | Refusal | undefined;
  verify(inbound: Inbound): Promise<Caller | Refusal>;
  /** Forgets all tokens. */
  forget(): void;
}

const MAX_TOKENS = 10_000;
const LOOKUP_MS = 60_000; // how late a revoked opaque token is noticed

const AWAY: ReadonlySet<string> = new Set(['REMOTE_REFUSED', 'REMOTE_UNAVAILABLE']);

interface Known {
  readonly caller: Caller;
  readonly untilMs: number;
}

/**
 * Makes a token verifier.
 *
 * Only tokens that were let in are remembered, by their SHA-256: refused ones cost their sender a verification each, and
 * cannot push others out. The same token is verified once, however many requests bring it at the same time. What waits for the
 * provider is bounded in `judge`; what is verified here and now is not, it ends within milliseconds.
 */
export function createTokenVerifier(parts: TokenVerifierParts): TokenVerifier {
  const tokens = new LRUCache<string, Known>({ max: MAX_TOKENS });
  const underway = new Map<string, Promise<Caller | Objection>>();
  let generation = 0;

  async function look(token: string, network: string, digest: string, challenge: string): Promise<Caller | Objection> {
    const asked = generation;
    const { verdict, isLookup } = await parts.judge(token, network);
    if (typeof verdict === 'string') return verdict;
    const caller = callerFromClaims(verdict, parts.issuer, token, challenge);
    if (typeof caller === 'string') return caller;
    const untilMs = Math.min(expiryOf(verdict), isLookup ? parts.now() + LOOKUP_MS : Number.POSITIVE_INFINITY);
    if (asked === generation) tokens.set(digest, { caller, untilMs });
    return caller;
  }

  return {
    known(inbound) {
      const bearer = readBearer(inbound.headers.authorization);
      if ('problem' in bearer) return refusalOf(bearer.problem, parts.challenge(inbound));
      const known = tokens.get(digestOf(bearer.token));
      if (known === undefined || known.untilMs <= parts.now()) return undefined;
      parts.onKnown();
      return known.caller;
    },
    async verify(inbound) {
      const bearer = readBearer(inbound.headers.authorization);
      const challenge = parts.challenge(inbound);
      if ('problem' in bearer) return refusalOf(bearer.problem, challenge);
      const digest = digestOf(bearer.token);
      let looking = underway.get(digest);
      if (looking === undefined) {
        const network = networkOf(inbound.remoteAddress);
        looking = look(bearer.token, network, digest, challenge).finally(() => underway.delete(digest));
        underway.set(digest, looking);
      }
      try {
        const outcome = await looking;
        return typeof outcome === 'string' ? refusalOf(outcome, challenge) : outcome;
      } catch (cause) {
        if (cause instanceof NoPlace) return UNDECIDED;
        if (cause instanceof GatewayFault && AWAY.has(cause.code)) return UNDECIDED; // told where it happened
        throw cause;
      }
    },
    forget() {
      generation++; // what is being verified now may lean on what is forgotten
      tokens.clear();
    },
  };
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}

function expiryOf({ exp }: JsonObject): number {
  return typeof exp === 'number' ? (exp + CLOCK_LEEWAY_S) * 1000 : Number.POSITIVE_INFINITY;
}
