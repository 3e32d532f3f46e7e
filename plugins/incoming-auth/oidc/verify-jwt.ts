import type { JsonObject } from '@toolmgr/core';
import { errors, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { KeyRing, Keys } from './key-ring.ts';
import type { Objection } from './refusals.ts';

/** Asymmetric algorithms only: with one of HS* a published key would be the secret (key confusion), `none` proves nothing. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** How far the clocks of provider and gateway may be apart, for `exp` and `nbf`. */
export const CLOCK_LEEWAY_S = 30;

const TYPES = new Set(['jwt', 'at+jwt', 'application/at+jwt']); // RFC 9068 §4; a logout or DPoP token is none

/** The header of a compact JWS, or nothing when the token is none: then it is opaque. */
export function jwtHeader(token: string): JsonObject | undefined {
  if (token.split('.', 4).length !== 3) return undefined;
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8'));
    const isHeader = typeof header === 'object' && header !== null && 'alg' in header;
    return isHeader ? (header as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** What a token must be. */
export interface JwtRules {
  readonly issuer: string;
  readonly audience: string;
}

/** Does what has to wait for the provider, in a bounded place. */
export type Patience = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * The claims of a JWT whose signature, issuer, audience and times hold, or the objection to it.
 *
 * A key that the ring does not have is looked for once more at the provider, as often as the ring allows.
 * While the ring has keys nothing is waited for but the computation.
 * @throws what the ring throws while the keys are unavailable
 * Source: RFC 7519 §7.2, RFC 8725 §3, RFC 9068 §4.
 */
export async function verifyJwt(
  token: string,
  header: JsonObject,
  rules: JwtRules,
  ring: KeyRing,
  nowMs: number,
  patience: Patience,
): Promise<JsonObject | Objection> {
  if (typeof header.alg !== 'string' || !ALGORITHMS.includes(header.alg)) return 'algorithm';
  if (header.typ !== undefined && !TYPES.has(String(header.typ).toLowerCase())) return 'type';
  const options: JWTVerifyOptions = {
    issuer: [rules.issuer, `${rules.issuer}/`],
    audience: rules.audience,
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_LEEWAY_S,
    currentDate: new Date(nowMs),
    requiredClaims: ['exp'],
  };
  const keys = ring.present() ?? (await patience(() => ring.current()));
  const first = await attempt(token, keys, options);
  if (first !== UNKNOWN_KEY) return first;
  const renewed = await patience(() => ring.renewed());
  return renewed === keys ? 'signature' : verifiedAgain(await attempt(token, renewed, options));
}

const UNKNOWN_KEY = Symbol('no key of the ring fits');

async function attempt(
  token: string,
  keys: Keys,
  options: JWTVerifyOptions,
): Promise<JsonObject | Objection | typeof UNKNOWN_KEY> {
  try {
    return (await jwtVerify(token, keys.pick, options)).payload as JsonObject;
  } catch (cause) {
    return cause instanceof errors.JWKSNoMatchingKey ? UNKNOWN_KEY : objectionOf(cause);
  }
}

function verifiedAgain(outcome: JsonObject | Objection | typeof UNKNOWN_KEY): JsonObject | Objection {
  return outcome === UNKNOWN_KEY ? 'signature' : outcome;
}

/** Anything that is not known here is a token that cannot be verified, never one that is let through. */
function objectionOf(cause: unknown): Objection {
  if (cause instanceof errors.JWTExpired) return 'expired';
  if (cause instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  if (cause instanceof errors.JWTClaimValidationFailed) return BY_CLAIM[cause.claim] ?? 'claims';
  return 'signature';
}

const BY_CLAIM: Readonly<Record<string, Objection>> = { iss: 'issuer', aud: 'audience', nbf: 'early' };
