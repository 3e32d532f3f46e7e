import { hash } from 'node:crypto';
import { type Caller, GatewayFault, type Inbound, type JsonObject, networkOf, type Refusal } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import { readBearer } from './bearer.ts';
import { callerFromClaims } from './caller-from-claims.ts';
import { NoFreeSlot } from './concurrency-slots.ts';
import { type Objection, PROVIDER_UNAVAILABLE, refusalOf } from './refusals.ts';
import { CLOCK_LEEWAY_S } from './verify-jwt.ts';

/** What {@link createTokenVerifier} needs. */
export interface TokenVerifierParts {
  readonly issuer: string;
  now(): number;
  /** The challenge for a refused request. */
  challenge(inbound: Inbound): string;
  /**
   * Claims or the objection. `network`: where the token came from. `isLookup`: the answer may change before the token expires.
   * @throws GatewayFault REMOTE_REFUSED, REMOTE_UNAVAILABLE, NoFreeSlot when the token cannot be verified now
   */
  judge(
    token: string,
    network: string,
  ): Promise<{ readonly verdict: JsonObject | Objection; readonly isLookup: boolean }>;
  /** Called for every cached token; must be cheap. */
  onKnown(): void;
  /** Whether a token with these claims was withdrawn; absent when the issuer does not say. May reject for a while. */
  isWithdrawn?(claims: JsonObject): boolean | Promise<boolean>;
}

/** Verifies and caches tokens. */
export interface TokenVerifier {
  /** The caller of a cached token, or an immediate refusal; `undefined` when `verify` is needed. */
  known(inbound: Inbound): Caller | Refusal | undefined;
  verify(inbound: Inbound): Promise<Caller | Refusal>;
  /** Clears the cache. */
  forget(): void;
}

const MAX_TOKENS = 10_000;
const LOOKUP_MS = 60_000; // delay until a revoked opaque token is noticed

const WITHDRAWN_MS = 3_000; // delay until a withdrawn token is noticed, when the issuer has to look it up
const UNCHECKED_MS = 60_000; // a token stays valid for this long while its withdrawal cannot be checked

const UNAVAILABLE_CODES: ReadonlySet<string> = new Set(['REMOTE_REFUSED', 'REMOTE_UNAVAILABLE', 'STORE_UNAVAILABLE']);

interface Known {
  readonly caller: Caller;
  readonly untilMs: number;
  /** When it was last known not to be withdrawn, and when to ask again. */
  checkedMs: number;
  askAgainMs: number;
}

/**
 * Creates a token verifier.
 *
 * Only accepted tokens are cached, by their SHA-256, so that invalid ones cannot evict them. Concurrent requests with the same
 * token share one verification. Waiting for the provider is bounded in `judge`; local verification takes milliseconds.
 */
export function createTokenVerifier(parts: TokenVerifierParts): TokenVerifier {
  const tokens = new LRUCache<string, Known>({ max: MAX_TOKENS });
  const inFlight = new Map<string, Promise<Caller | Objection>>();
  let generation = 0;

  async function verifyNew(
    token: string,
    network: string,
    digest: string,
    challenge: string,
  ): Promise<Caller | Objection> {
    const asked = generation;
    const { verdict, isLookup } = await parts.judge(token, network);
    if (typeof verdict === 'string') return verdict;
    const found = callerFromClaims(verdict, parts.issuer, token, challenge);
    if (typeof found === 'string') return found;
    const { isWithdrawn } = parts;
    const caller = isWithdrawn === undefined ? found : { ...found, isWithdrawn: () => isWithdrawn(found.claims) };
    const checkedMs = parts.now();
    if (await parts.isWithdrawn?.(caller.claims)) return 'withdrawn';
    const untilMs = Math.min(expiryOf(verdict), isLookup ? parts.now() + LOOKUP_MS : Number.POSITIVE_INFINITY);
    if (asked === generation) tokens.set(digest, { caller, untilMs, checkedMs, askAgainMs: nextCheck(checkedMs) });
    return caller;
  }

  const nextCheck = (nowMs: number): number =>
    parts.isWithdrawn === undefined ? Number.POSITIVE_INFINITY : nowMs + WITHDRAWN_MS;

  const cached = (digest: string): Known | undefined => {
    const known = tokens.get(digest);
    return known === undefined || known.untilMs <= parts.now() ? undefined : known;
  };

  /** An answer that comes later is not awaited: it is asked for again soon. */
  const isKnownWithdrawn = ({ caller: { claims } }: Known): boolean => {
    const answer = parts.isWithdrawn?.(claims);
    if (typeof answer === 'object') answer.catch(() => {});
    return answer === true;
  };

  async function checkAgain(digest: string, known: Known): Promise<Caller | Objection> {
    const nowMs = parts.now();
    try {
      if (await parts.isWithdrawn?.(known.caller.claims)) {
        tokens.delete(digest);
        return 'withdrawn';
      }
      known.checkedMs = nowMs;
    } catch (cause) {
      if (nowMs - known.checkedMs >= UNCHECKED_MS) throw cause;
    }
    known.askAgainMs = nextCheck(nowMs);
    return known.caller;
  }

  return {
    known(inbound) {
      const bearer = readBearer(inbound.headers.authorization);
      if ('problem' in bearer) return refusalOf(bearer.problem, parts.challenge(inbound));
      const known = cached(digestOf(bearer.token));
      if (known === undefined || known.askAgainMs <= parts.now() || isKnownWithdrawn(known)) return undefined;
      parts.onKnown();
      return known.caller;
    },
    async verify(inbound) {
      const bearer = readBearer(inbound.headers.authorization);
      const challenge = parts.challenge(inbound);
      if ('problem' in bearer) return refusalOf(bearer.problem, challenge);
      const digest = digestOf(bearer.token);
      let looking = inFlight.get(digest);
      if (looking === undefined) {
        const network = networkOf(inbound.remoteAddress);
        const known = cached(digest);
        const verdict =
          known === undefined ? verifyNew(bearer.token, network, digest, challenge) : checkAgain(digest, known);
        looking = verdict.finally(() => inFlight.delete(digest));
        inFlight.set(digest, looking);
      }
      try {
        const outcome = await looking;
        return typeof outcome === 'string' ? refusalOf(outcome, challenge) : outcome;
      } catch (cause) {
        if (cause instanceof NoFreeSlot) return PROVIDER_UNAVAILABLE;
        if (cause instanceof GatewayFault && UNAVAILABLE_CODES.has(cause.code)) return PROVIDER_UNAVAILABLE; // already logged
        throw cause;
      }
    },
    forget() {
      generation++; // running verifications may use withdrawn keys
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
