import type { JsonObject, JsonValue } from '@toolmgr/core';
import type { Keys, SigningKeys } from '@toolmgr/plugins/kit/issuer-keys';
import { errors, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { Objection } from './refusals.ts';

/** Asymmetric algorithms only: HS* would allow key confusion, `none` has no signature. */
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

/** Allowed clock skew between provider and gateway, for `exp` and `nbf`. */
export const CLOCK_LEEWAY_S = 30;

const ACCESS_TOKENS: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt']); // RFC 9068 §4
const TYPES: ReadonlySet<string> = new Set(['jwt', ...ACCESS_TOKENS]); // not a logout or DPoP token

/** The header of a compact JWS; `undefined` for an opaque token. */
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

/** Required issuer and audience. */
export interface JwtRules {
  readonly issuer: string;
  readonly audience: string;
  /** Only access tokens as RFC 9068 defines them: an issuer in this process signs no others with this type. */
  readonly onlyAccessTokens?: boolean;
}

/** Runs work that waits for the provider in a concurrency slot. */
export type WaitInSlot = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * The claims of a JWT with valid signature, issuer, audience and times, or why it is refused.
 *
 * For an unknown key the keys are fetched again, within their limits. With cached keys it never waits for the provider.
 * @throws the errors of `SigningKeys` while the keys are unavailable
 * Source: RFC 7519 §7.2, RFC 8725 §3, RFC 9068 §4.
 */
export async function verifyJwt(
  token: string,
  header: JsonObject,
  rules: JwtRules,
  signingKeys: SigningKeys,
  nowMs: number,
  waitInSlot: WaitInSlot,
): Promise<JsonObject | Objection> {
  if (typeof header.alg !== 'string' || !ALGORITHMS.includes(header.alg)) return 'algorithm';
  if (!isAccessToken(header.typ, rules.onlyAccessTokens === true)) return 'type';
  const options: JWTVerifyOptions = {
    issuer: [rules.issuer, `${rules.issuer}/`],
    audience: rules.audience,
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_LEEWAY_S,
    currentDate: new Date(nowMs),
    requiredClaims: ['exp'],
  };
  const keys = signingKeys.present() ?? (await waitInSlot(() => signingKeys.current()));
  const first = await attempt(token, keys, options);
  if (first !== UNKNOWN_KEY) return first;
  const renewed = await waitInSlot(() => signingKeys.renewed());
  return renewed === keys ? 'signature' : verifiedAgain(await attempt(token, renewed, options));
}

function isAccessToken(typ: JsonValue | undefined, isStrict: boolean): boolean {
  if (typ === undefined) return !isStrict;
  return (isStrict ? ACCESS_TOKENS : TYPES).has(String(typ).toLowerCase());
}

const UNKNOWN_KEY = Symbol('unknown key');

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

/** Unknown errors mean that the token is refused. */
function objectionOf(cause: unknown): Objection {
  if (cause instanceof errors.JWTExpired) return 'expired';
  if (cause instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  if (cause instanceof errors.JWTClaimValidationFailed) return BY_CLAIM[cause.claim] ?? 'claims';
  return 'signature';
}

const BY_CLAIM: Readonly<Record<string, Objection>> = { iss: 'issuer', aud: 'audience', nbf: 'early' };
