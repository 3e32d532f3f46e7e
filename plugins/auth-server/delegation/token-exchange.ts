import type { JsonObject } from '@toolmgr/core';
import { type Actor, actChain } from './act-chain.ts';
import { mayDelegate } from './consent.ts';
import { GrantRefusal } from './grant-refusal.ts';
import type { IssuedToken, IssueToken } from './issue-token.ts';
import { ownSubject, type Subject, type SubjectRules, verifySubject } from './subject-token.ts';
import { isIssuerAway } from './trusted-issuers.ts';

/** The grant of RFC 8693. */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/**
 * Claim of a delegated token with the session of its person: the token ends with it. It is not `tsid`, which gives access to the
 * person's tokens of upstream providers.
 */
export const SUBJECT_SESSION = 'subject_tsid';

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';

/** Parameters of RFC 8693 §2.1; those of a repeated parameter as a list. */
export const EXCHANGE_PARAMETERS = [
  ...['subject_token', 'subject_token_type', 'actor_token', 'actor_token_type'],
  ...['requested_token_type', 'resource', 'audience', 'scope'],
] as const;

/** Values of {@link EXCHANGE_PARAMETERS}. */
export type ExchangeParameters = Readonly<
  Partial<Record<(typeof EXCHANGE_PARAMETERS)[number], string | readonly string[]>>
>;

/** The authenticated client. */
export interface ExchangeClient {
  readonly id: string;
  readonly isConfigured: boolean;
  readonly scopes: readonly string[];
  /** Resources that it may request. */
  readonly audiences: readonly string[];
}

/** What the exchange needs. */
export interface ExchangeRules extends SubjectRules {
  readonly maxLifetimeS: number;
  readonly issue: IssueToken;
}

/** A response of RFC 8693 §2.2.1. */
export interface ExchangeResponse extends JsonObject {
  readonly access_token: string;
  readonly issued_token_type: typeof ACCESS_TOKEN;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
}

/** Exchanges a person's token for one with which a client acts for the person. */
export async function exchangeToken(
  client: ExchangeClient,
  parameters: ExchangeParameters,
  rules: ExchangeRules,
): Promise<ExchangeResponse | GrantRefusal> {
  const { subject_token: given, subject_token_type: type } = parameters;
  if (typeof given !== 'string' || (type !== ACCESS_TOKEN && type !== JWT)) {
    return invalidRequest('expected subject_token with the type of an access token or a JWT');
  }
  if (![undefined, ACCESS_TOKEN].includes(parameters.requested_token_type as undefined)) {
    return invalidRequest('requested_token_type: expected the type of an access token');
  }
  const subject = await verifiedSubject(given, rules);
  if (subject instanceof GrantRefusal) return subject;
  const actor = await actorOf(client, parameters, rules);
  if (actor instanceof GrantRefusal) return actor;
  const { id: clientId, isConfigured } = client;
  if (!mayDelegate(subject, { clientId, isConfigured, actor })) {
    return new GrantRefusal('invalid_grant', 'the client may not act for the subject of the token');
  }
  const act = actOf(subject, { iss: rules.issuer, sub: actor });
  if (act === undefined) return invalidRequest('the actors of the subject token are malformed or too many');
  const scopes = grantedScopes(client, subject, parameters.scope);
  if (scopes instanceof GrantRefusal) return scopes;
  const audience = targetOf(client, subject, parameters);
  if (audience instanceof GrantRefusal) return audience;
  const lifetimeS = Math.min(subject.expiresS - Math.ceil(rules.now() / 1000), rules.maxLifetimeS);
  if (lifetimeS < 1) return invalidRequest(BAD_SUBJECT);
  const further = { ...personOf(subject), act };
  return responseOf(await rules.issue({ subject: subject.sub, audience, clientId, scopes, lifetimeS, further }));
}

const BAD_SUBJECT = 'the subject token is not accepted';

async function verifiedSubject(token: string, rules: SubjectRules): Promise<Subject | GrantRefusal> {
  try {
    return (await verifySubject(token, rules)) ?? invalidRequest(BAD_SUBJECT);
  } catch (cause) {
    if (isIssuerAway(cause)) return invalidRequest('the keys of the issuer of the subject token are not available');
    throw cause;
  }
}

/** The `sub` of the actor token, which has to be of this server and of the caller; else the client id. */
async function actorOf(
  { id }: ExchangeClient,
  { actor_token: token, actor_token_type: type }: ExchangeParameters,
  rules: SubjectRules,
): Promise<string | GrantRefusal> {
  if (token === undefined)
    return type === undefined ? id : invalidRequest('actor_token_type: expected actor_token too');
  if (typeof token !== 'string' || (type !== ACCESS_TOKEN && type !== JWT)) {
    return invalidRequest('expected actor_token with the type of an access token or a JWT');
  }
  const actor = await ownSubject(token, rules);
  // an actor token with `act` names a person, who would be missing in the new chain
  const isOfCaller = actor?.client === id && actor.claims.act === undefined;
  return isOfCaller ? actor.sub : invalidRequest('the actor token is not accepted');
}

function actOf({ from, client, claims }: Subject, actor: Actor): JsonObject | undefined {
  if (from === undefined || client === undefined) return actChain([actor], claims.act);
  return actChain([actor, { iss: from.config.issuer, sub: client }], claims.act);
}

function grantedScopes(
  client: ExchangeClient,
  subject: Subject,
  wanted: string | readonly string[] | undefined,
): readonly string[] | GrantRefusal {
  if (wanted !== undefined && typeof wanted !== 'string') return invalidRequest('scope: expected one value');
  const scopes = [...new Set((wanted ?? '').split(' ').filter((each) => each !== ''))];
  const isGranted = scopes.every((each) => client.scopes.includes(each) && subject.scopes.includes(each));
  return isGranted
    ? scopes
    : new GrantRefusal('invalid_scope', 'expected scopes of the client and of the subject token');
}

/** The resource: the requested one, or the only one that the client and the token have in common. */
function targetOf(
  client: ExchangeClient,
  subject: Subject,
  { resource, audience }: ExchangeParameters,
): string | GrantRefusal {
  const requested = [resource ?? [], audience ?? []].flat();
  const common = subject.audiences.filter((each) => client.audiences.includes(each));
  const [target, ...others] = requested.length === 0 ? common : requested;
  if (target !== undefined && others.length === 0 && common.includes(target)) return target;
  return new GrantRefusal('invalid_target', 'expected one resource of the client and of the subject token');
}

/** Name, email and session of the person, which this server put into its own token. */
function personOf({ from, claims }: Subject): JsonObject {
  if (from !== undefined) return {};
  const { name, email } = claims;
  const session = claims.tsid ?? claims[SUBJECT_SESSION];
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof email === 'string' ? { email } : {}),
    ...(typeof session === 'string' ? { [SUBJECT_SESSION]: session } : {}),
  };
}

function responseOf({ token, expiresInS, scope }: IssuedToken): ExchangeResponse {
  return { access_token: token, issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in: expiresInS, scope };
}

function invalidRequest(description: string): GrantRefusal {
  return new GrantRefusal('invalid_request', description);
}
