import { createHash } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import type { AuthStorage } from '../storage/storage.ts';
import type { TrustedIssuerConfig } from './config.ts';
import { GrantRefusal } from './grant-refusal.ts';
import type { IssueToken } from './issue-token.ts';
import { isIssuerAway, type TrustedIssuer } from './trusted-issuers.ts';
import { namedIssuer, type VerifiedToken } from './verify-token.ts';

/** The grant of RFC 7523 §2.1. */
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const TYPES = ['', 'jwt', 'at+jwt']; // not an ID-JAG, which is bound to a client
const CLOCK_SKEW_S = 30; // of `iat`

/** What the grant needs. */
export interface AssertionRules {
  readonly tokenEndpoint: string;
  readonly trustedIssuers: ReadonlyMap<string, TrustedIssuer>;
  readonly storage: Pick<AuthStorage, 'add'>;
  readonly maxLifetimeS: number;
  readonly issue: IssueToken;
  now(): number;
}

/** A request without client authentication; every value of each parameter. */
export interface AssertionRequest {
  readonly assertion: readonly string[];
  readonly resource: readonly string[];
  readonly scope: readonly string[];
}

/** A response of RFC 6749 §5.1. */
export interface AssertionResponse extends JsonObject {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
}

/** Exchanges an assertion of a trusted issuer, once, for a token of a listed subject. */
export async function exchangeAssertion(
  request: AssertionRequest,
  rules: AssertionRules,
): Promise<AssertionResponse | GrantRefusal> {
  const [assertion, ...others] = request.assertion;
  if (assertion === undefined || others.length > 0)
    return new GrantRefusal('invalid_request', 'expected one assertion');
  const issuer = rules.trustedIssuers.get(namedIssuer(assertion) ?? '');
  const settings = issuer?.config.jwtBearer;
  if (issuer === undefined || settings === undefined) return refused();
  const verified = await verifiedAssertion(assertion, issuer, settings.acceptedAudiences ?? [rules.tokenEndpoint]);
  if (verified instanceof GrantRefusal) return verified;
  const nowS = rules.now() / 1000;
  if (!isRecent(verified, settings.maxAssertionAge / 1000, nowS) || verified.claims.act !== undefined) return refused();
  const bindings = settings.subjectBindings.filter(({ subject }) => subject === verified.subject);
  if (bindings.length === 0) return refused();
  const [resource, ...more] = request.resource;
  const binding = bindings.find(({ resources }) => resource !== undefined && resources.includes(resource));
  if (binding === undefined || resource === undefined || more.length > 0) {
    return new GrantRefusal('invalid_target', 'expected one resource that is listed for the subject');
  }
  const scopes = [...new Set(request.scope.flatMap((text) => text.split(' ')).filter((each) => each !== ''))];
  if (!scopes.every((scope) => binding.scopes.includes(scope))) {
    return new GrantRefusal('invalid_scope', 'expected scopes that are listed for the subject');
  }
  const lifetimeS = Math.min(Math.floor(verified.expiresS - nowS), rules.maxLifetimeS);
  if (lifetimeS < 1 || !(await isFirstUse(assertion, verified, issuer.config, rules))) return refused();
  const subject = `${issuer.config.issuer}#${verified.subject}`;
  const clientId = `jwt-bearer-${sha256(`${issuer.config.issuer}\0${verified.subject}`).slice(0, 32)}`;
  const issued = await rules.issue({ subject, audience: resource, clientId, scopes, lifetimeS, further: {} });
  return { access_token: issued.token, token_type: 'Bearer', expires_in: issued.expiresInS, scope: issued.scope };
}

async function verifiedAssertion(
  assertion: string,
  issuer: TrustedIssuer,
  audiences: readonly string[],
): Promise<VerifiedToken | GrantRefusal> {
  try {
    return (await issuer.verify(assertion, { audiences, types: TYPES })) ?? refused();
  } catch (cause) {
    if (isIssuerAway(cause)) return new GrantRefusal('invalid_grant', 'the keys of the issuer are not available');
    throw cause;
  }
}

function isRecent({ claims: { iat }, expiresS }: VerifiedToken, maxAgeS: number, nowS: number): boolean {
  return typeof iat === 'number' && iat <= nowS + CLOCK_SKEW_S && expiresS - iat <= maxAgeS;
}

/**
 * Consumes the assertion until it ends. Without `jti` it is known by what is signed: a signature can be changed into another
 * valid one.
 */
async function isFirstUse(
  assertion: string,
  { claims: { jti }, expiresS }: VerifiedToken,
  { issuer }: TrustedIssuerConfig,
  { storage, now }: AssertionRules,
): Promise<boolean> {
  const signed = assertion.slice(0, assertion.lastIndexOf('.'));
  const id = typeof jti === 'string' && jti !== '' ? `jti\0${issuer}\0${jti}` : `text\0${signed}`;
  return storage.add(`assertion-jwt:${sha256(id)}`, {}, Math.max(1, Math.ceil(expiresS * 1000 - now())));
}

function refused(): GrantRefusal {
  return new GrantRefusal('invalid_grant', 'the assertion is not accepted');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
