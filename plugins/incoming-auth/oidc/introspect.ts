import { GatewayFault, isObject, type JsonObject, type Secret } from '@toolmgr/core';
import { plainUrl, type RemoteHttp } from '../../shared/safe-http/remote-http.ts';
import { plainIssuer } from './provider-keys.ts';
import type { Objection } from './refusals.ts';
import { CLOCK_LEEWAY_S, type JwtRules } from './verify-jwt.ts';

/** Who asks where. */
export interface IntrospectionParts {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly http: RemoteHttp;
}

/**
 * The claims of an opaque token that its provider calls active and meant for this gateway, or the objection to it.
 *
 * An answer without audience is refused: nobody would know whom the token is for. Status 400 is the provider's word about the
 * token, unless it names the gateway as the client that it does not know.
 * @throws GatewayFault REMOTE_REFUSED, REMOTE_UNAVAILABLE when there is no such answer
 * Source: RFC 7662 §2; RFC 6749 §2.3.1 for the credentials.
 */
export async function introspect(
  token: string,
  { url, clientId, clientSecret, http }: IntrospectionParts,
  rules: JwtRules,
  nowMs: number,
  signal: AbortSignal,
): Promise<JsonObject | Objection> {
  const form = new URLSearchParams({ token, token_type_hint: 'access_token' });
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (clientSecret === undefined) form.set('client_id', clientId);
  else headers.authorization = basic(clientId, clientSecret);
  const answer = await http.send(url, { method: 'POST', headers, body: form.toString(), signal });
  const isAboutClient = answer.status === 400 && CLIENT_ERRORS.has(errorOf(answer.body));
  if (answer.status === 401 || answer.status === 403 || isAboutClient) {
    const message = `${plainUrl(url)}: refused the gateway's own credentials (status ${answer.status})`;
    throw new GatewayFault('REMOTE_UNAVAILABLE', message);
  }
  if (answer.status === 400) return 'rejected';
  return judge(http.json(answer, url), rules, Math.floor(nowMs / 1000));
}

const CLIENT_ERRORS: ReadonlySet<unknown> = new Set(['invalid_client', 'unauthorized_client']); // RFC 6749 §5.2

function errorOf(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isObject(value) ? value.error : undefined;
  } catch {
    return undefined;
  }
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

function basic(id: string, secret: Secret): string {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret.reveal())}`).toString('base64')}`;
}
