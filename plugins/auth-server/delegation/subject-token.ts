import { isObject, type JsonObject } from '@toolmgr/core';
import type { JWTVerifyGetKey } from 'jose';
import type { TrustedIssuer } from './trusted-issuers.ts';
import { namedIssuer, scopesOf, textsOf, UNKNOWN_KEY, type VerifiedToken, verifyToken } from './verify-token.ts';

/** What a subject token says. */
export interface Subject {
  /** Absent for a token of this server. */
  readonly from?: TrustedIssuer;
  /** `sub` of the issued token: `ISSUER#SUB` for a person of another issuer. */
  readonly sub: string;
  readonly claims: JsonObject;
  /** Resources of this server that it was issued for. */
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  /** The client that it was issued to. */
  readonly client: string | undefined;
  readonly expiresS: number;
}

/** What is needed to verify tokens of this server and of others. */
export interface SubjectRules {
  readonly issuer: string;
  readonly ownKeys: JWTVerifyGetKey;
  readonly allowedAudiences: readonly string[];
  readonly trustedIssuers: ReadonlyMap<string, TrustedIssuer>;
  /** Whether a token of this server was revoked. */
  isWithdrawn(claims: JsonObject): boolean | Promise<boolean>;
  now(): number;
}

const OWN_TYPES = ['at+jwt'];
const OTHER_TYPES = ['', 'jwt', 'at+jwt'];

/**
 * Verifies a subject token; `undefined` when it is refused. The reason is not told, because it would help to forge tokens.
 * @throws GatewayFault REMOTE_UNAVAILABLE, REMOTE_REFUSED while the keys of its issuer are missing
 */
export async function verifySubject(token: string, rules: SubjectRules): Promise<Subject | undefined> {
  const named = namedIssuer(token);
  if (named === rules.issuer) return ownSubject(token, rules);
  const from = rules.trustedIssuers.get(named ?? '');
  const expected = from?.config.expectedAudience;
  if (from === undefined || expected === undefined) return undefined;
  const verified = await from.verify(token, { audiences: [expected], types: OTHER_TYPES });
  if (verified === undefined) return undefined;
  const { claims, subject, expiresS } = verified;
  const { actorClaim } = from.config;
  const actor = actorClaim === undefined ? (claims.client_id ?? claims.azp) : claims[actorClaim];
  const { allowedAudiences } = rules;
  return {
    from,
    sub: `${from.config.issuer}#${subject}`,
    claims,
    // an audience of the other issuer that is no resource stands for this whole server
    audiences: allowedAudiences.includes(expected) ? resourcesOf(verified, rules) : allowedAudiences,
    scopes: scopesOf(claims),
    client: typeof actor === 'string' && actor !== '' ? actor : undefined,
    expiresS,
  };
}

/** Verifies a token of this server. */
export async function ownSubject(token: string, rules: SubjectRules): Promise<Subject | undefined> {
  const { issuer, allowedAudiences, now } = rules;
  const checks = { issuer, audiences: allowedAudiences, types: OWN_TYPES, nowMs: now() };
  const verified = await verifyToken(token, rules.ownKeys, checks);
  if (verified === undefined || verified === UNKNOWN_KEY) return undefined;
  const { claims, subject, expiresS } = verified;
  if (await rules.isWithdrawn(claims)) return undefined;
  return {
    sub: subject,
    claims,
    audiences: resourcesOf(verified, rules),
    scopes: scopesOf(claims),
    client: typeof claims.client_id === 'string' ? claims.client_id : undefined,
    expiresS,
  };
}

function resourcesOf({ claims }: VerifiedToken, { allowedAudiences }: SubjectRules): readonly string[] {
  return textsOf(claims.aud).filter((audience) => allowedAudiences.includes(audience));
}

/** The party that a token allows to act for its subject (RFC 8693 §4.4); `undefined` for none. */
export function mayActOf({ may_act: mayAct }: JsonObject): string | undefined {
  return isObject(mayAct) && typeof mayAct.sub === 'string' ? mayAct.sub : undefined;
}
