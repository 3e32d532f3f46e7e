import type { JsonObject, JsonValue } from '@toolmgr/core';
import {
  customFetch,
  discoveryRequest,
  genericTokenEndpointRequest,
  introspectionRequest,
  processDiscoveryResponse,
  processGenericTokenEndpointResponse,
  processIntrospectionResponse,
} from 'oauth4webapi';
import type { RemoteHttp } from '../safe-http/remote-http.ts';
import { type ClientCredentials, clientAuthentication } from './client-authentication.ts';
import { answerOf, type OauthRefusal, optionsOf } from './library-options.ts';

/** One endpoint of an authorization server, with the client. */
export interface OauthEndpoint {
  readonly url: string;
  readonly client: ClientCredentials;
  /** The HTTP client with its rules, bounds and timeouts. */
  readonly http: RemoteHttp;
}

/**
 * Requests a token from a token endpoint; a response has a token of type `bearer` or `dpop`, or of `tokenType` (lower case).
 * @throws GatewayFault of `RemoteHttp.send` and `jsonBody`
 */
export function requestToken(
  endpoint: OauthEndpoint,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
  { signal, tokenType }: { readonly signal?: AbortSignal; readonly tokenType?: string } = {},
): Promise<JsonObject | OauthRefusal> {
  const server = { issuer: endpoint.url, token_endpoint: endpoint.url };
  const client = clientOf(endpoint);
  // only these members are validated; e.g. an ID token would be checked against an issuer that is not configured
  const read = ({ access_token, token_type, issued_token_type, expires_in, refresh_token, scope }: JsonObject) => ({
    access_token,
    token_type,
    issued_token_type,
    expires_in: expires_in ?? undefined,
    refresh_token: textOf(refresh_token),
    scope: textOf(Array.isArray(scope) ? scope.join(' ') : scope),
  });
  return answerOf(async () => {
    const authentication = clientAuthentication(endpoint.client);
    const options = { ...optionsOf(endpoint.http, read), ...(signal === undefined ? {} : { signal }) };
    const form = new URLSearchParams(parameters);
    const response = await genericTokenEndpointRequest(server, client, authentication, grantType, form, options);
    const more = tokenType === undefined ? {} : { recognizedTokenTypes: { [tokenType]: () => undefined } };
    return processGenericTokenEndpointResponse(server, client, response, more);
  });
}

/**
 * Introspects an access token. `active` is `true` or `false`.
 * @throws GatewayFault as {@link requestToken}
 */
export function requestIntrospection(
  endpoint: OauthEndpoint,
  token: string,
  signal: AbortSignal,
): Promise<JsonObject | OauthRefusal> {
  const server = { issuer: endpoint.url, introspection_endpoint: endpoint.url };
  const client = clientOf(endpoint);
  const read = (body: JsonObject): JsonObject => ({ ...body, active: body.active === true });
  return answerOf(async () => {
    const authentication = clientAuthentication(endpoint.client);
    const additionalParameters = { token_type_hint: 'access_token' };
    const options = { ...optionsOf(endpoint.http, read), additionalParameters, signal };
    const response = await introspectionRequest(server, client, authentication, token, options);
    return processIntrospectionResponse(server, client, response);
  });
}

/**
 * Fetches the metadata of an authorization server and its URL. The issuer must match, except for a trailing slash.
 * @param kind OpenID Connect Discovery §4 or RFC 8414 §3
 * @throws GatewayFault as {@link requestToken}
 */
export async function requestMetadata(
  http: RemoteHttp,
  issuer: string,
  kind: 'oidc' | 'oauth2',
  signal: AbortSignal,
): Promise<{ readonly place: string; readonly answer: JsonObject | OauthRefusal }> {
  let place = issuer;
  const read = (body: JsonObject): JsonObject =>
    typeof body.issuer === 'string' && plainIssuer(body.issuer) === plainIssuer(issuer) ? { ...body, issuer } : body;
  const answer = await answerOf(async () => {
    const { [customFetch]: send, ...options } = optionsOf(http, read);
    const placed: typeof send = (url, wanted) => {
      place = url;
      return send(url, wanted);
    };
    const url = new URL(issuer);
    const response = await discoveryRequest(url, { ...options, [customFetch]: placed, algorithm: kind, signal });
    return processDiscoveryResponse(url, response);
  });
  return { place, answer };
}

/** A malformed member that only some grants use does not make a token invalid. */
function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An issuer without a trailing slash, because providers use both forms. */
export function plainIssuer(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/** The library requires an id; only `clientAuthentication` sends it. */
function clientOf({ client }: OauthEndpoint): { readonly client_id: string } {
  return { client_id: client.id ?? 'none' };
}
