import type { JsonObject, Secret } from '@toolmgr/core';
import { plainUrl } from '@toolmgr/plugins/kit/safe-http/addresses';
import { providerFault } from './failures.ts';
import { objectIn, type ProviderHttp } from './provider/provider-http.ts';
import { UpstreamRefusal } from './upstream.ts';

/** How an userinfo endpoint is asked. */
export interface UserInfoRequest {
  readonly endpointUrl: string;
  readonly httpMethod: 'GET' | 'POST';
  readonly additionalHeaders: Readonly<Record<string, string>>;
}

/**
 * Asks who the owner of an access token is. Source: OpenID Connect Core §5.3.
 * @throws UpstreamRefusal when the endpoint refuses the token; GatewayFault without an answer
 */
export async function requestUserInfo(
  upstream: string,
  http: ProviderHttp,
  { endpointUrl, httpMethod, additionalHeaders }: UserInfoRequest,
  accessToken: Secret,
  signal: AbortSignal,
): Promise<JsonObject> {
  const answer = await http.send(endpointUrl, {
    method: httpMethod,
    headers: {
      accept: 'application/json',
      ...Object.fromEntries(Object.entries(additionalHeaders).map(([name, value]) => [name.toLowerCase(), value])),
      authorization: `Bearer ${accessToken.reveal()}`,
    },
    signal,
  });
  if (answer.status === 200) return objectIn(answer, endpointUrl);
  if (REFUSED.has(answer.status)) {
    const sentence = `${plainUrl(endpointUrl)} does not accept the new access token (status ${answer.status})`;
    throw new UpstreamRefusal(upstream, 'access_denied', sentence);
  }
  throw providerFault(upstream, `${plainUrl(endpointUrl)} answered with status ${answer.status}`);
}

const REFUSED: ReadonlySet<number> = new Set([400, 401, 403]);
