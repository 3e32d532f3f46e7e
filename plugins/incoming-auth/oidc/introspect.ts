import { GatewayFault, type JsonObject, type Secret } from '@toolmgr/core';
import { OauthRefusal, plainIssuer, requestIntrospection } from '@toolmgr/plugins/kit/oauth';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { plainUrl } from '@toolmgr/plugins/kit/safe-http/addresses';
import type { Objection } from './refusals.ts';
import { CLOCK_LEEWAY_S, type JwtRules } from './verify-jwt.ts';

/** Endpoint and credentials of introspection. */
export interface IntrospectionParts {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly http: RemoteHttp;
}

/**
 * The claims of an opaque token that is active and has this gateway as its audience, or why it is refused.
 *
 * A response without an audience is refused. Status 400 means an invalid token, unless the error is about the gateway's
 * client.
 * @throws GatewayFault REMOTE_REFUSED, REMOTE_UNAVAILABLE without a valid response
 * Source: RFC 7662 §2; RFC 6749 §2.3.1 for the credentials.
 */
export async function introspect(
  token: string,
  { url, clientId, clientSecret, http }: IntrospectionParts,
  rules: JwtRules,
  nowMs: number,
  signal: AbortSignal,
): Promise<JsonObject | Objection> {
  const client = { id: clientId, secret: clientSecret?.reveal() };
  const answer = await requestIntrospection({ url, client, http }, token, signal);
  if (!(answer instanceof OauthRefusal)) return judge(answer, rules, Math.floor(nowMs / 1000));
  const { status, error, problem } = answer;
  if (status === 401 || status === 403 || (status === 400 && CLIENT_ERRORS.has(error))) {
    throw unavailable(url, `refused the gateway's own credentials (status ${status})`);
  }
  if (status === 400) return 'rejected';
  throw unavailable(url, problem ?? `answered with status ${status}, expected 200`);
}

const CLIENT_ERRORS: ReadonlySet<unknown> = new Set(['invalid_client', 'unauthorized_client']); // RFC 6749 §5.2

function unavailable(url: string, why: string): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `${plainUrl(url)}: ${why}`);
}

function judge(answer: JsonObject, rules: JwtRules, nowS: number): JsonObject | Objection {
  const { active, ...claims } = answer;
  if (active !== true) return 'inactive';
  const { iss, aud, exp, nbf } = claims;
  if (exp !== undefined && typeof exp !== 'number') return 'claims';
  if (exp !== undefined && exp + CLOCK_LEEWAY_S <= nowS) return 'expired';
  if (typeof nbf === 'number' && nbf - CLOCK_LEEWAY_S > nowS) return 'early';
  if (iss !== undefined && (typeof iss !== 'string' || plainIssuer(iss) !== rules.issuer)) return 'issuer';
  return [aud].flat().includes(rules.audience) ? claims : 'audience';
}
