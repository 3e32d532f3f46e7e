import type { JsonObject } from '@toolmgr/core';
import {
  allowInsecureRequests,
  type CustomFetchOptions,
  customFetch,
  discoveryRequest,
  genericTokenEndpointRequest,
  introspectionRequest,
  OperationProcessingError,
  processDiscoveryResponse,
  processGenericTokenEndpointResponse,
  processIntrospectionResponse,
  ResponseBodyError,
  UnsupportedOperationError,
} from 'oauth4webapi';
import { jsonBody, type RemoteHttp } from '../safe-http/remote-http.ts';
import { type ClientCredentials, clientAuthentication } from './client-authentication.ts';

/** One endpoint of an authorization server, with the client. */
export interface OauthEndpoint {
  readonly url: string;
  readonly client: ClientCredentials;
  /** The HTTP client with its rules, bounds and timeouts. */
  readonly http: RemoteHttp;
}

/** A response without a token. Contains no text of the server except the error code. */
export class OauthRefusal {
  readonly status: number;
  /** `error` of an answer with a status of 400 to 499 (RFC 6749 §5.2). Any text. */
  readonly error: string | undefined;
  /** Why a response with status 200 is invalid, from the library. */
  readonly problem: string | undefined;

  constructor(status: number, { error, problem }: { readonly error?: string; readonly problem?: string } = {}) {
    this.status = status;
    this.error = error;
    this.problem = problem;
  }
}

/**
 * Requests a token from a token endpoint; a response has a token of type `bearer` or `dpop`.
 * @throws GatewayFault of `RemoteHttp.send` and `jsonBody`
 */
export function requestToken(
  endpoint: OauthEndpoint,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
): Promise<JsonObject | OauthRefusal> {
  const server = { issuer: endpoint.url, token_endpoint: endpoint.url };
  const client = clientOf(endpoint);
  // only these members are validated; e.g. an ID token would be checked against an issuer that is not configured
  const read = ({ access_token, token_type, issued_token_type, expires_in }: JsonObject) => ({
    access_token,
    token_type,
    issued_token_type,
    expires_in: expires_in ?? undefined,
  });
  return answerOf(async () => {
    const authentication = clientAuthentication(endpoint.client);
    const options = optionsOf(endpoint.http, read);
    const form = new URLSearchParams(parameters);
    const response = await genericTokenEndpointRequest(server, client, authentication, grantType, form, options);
    return processGenericTokenEndpointResponse(server, client, response);
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

/** An issuer without a trailing slash, because providers use both forms. */
export function plainIssuer(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/** The library requires an id; only `clientAuthentication` sends it. */
function clientOf({ client }: OauthEndpoint): { readonly client_id: string } {
  return { client_id: client.id ?? 'none' };
}

type Fetch = (url: string, wanted: CustomFetchOptions<string, URLSearchParams | undefined>) => Promise<Response>;

/** `http` decides which URLs may be plain http. */
function optionsOf(http: RemoteHttp, read: (body: JsonObject) => object) {
  const send: Fetch = async (url, { method, headers, body, signal }) => {
    const answer = await http.send(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === undefined ? {} : { body: body.toString() }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = answer.status === 200 ? JSON.stringify(read(jsonBody(answer, url))) : answer.body.toString('utf8');
    const status = Math.min(answer.status, MAX_STATUS);
    return new Response(WITHOUT_BODY.has(status) ? null : text, { status, headers: JSON_TYPE });
  };
  return { [customFetch]: send, [allowInsecureRequests]: true } as const;
}

/** Some servers use another content type for JSON. Other headers are dropped: a challenge would hide the error code. */
const JSON_TYPE = { 'content-type': 'application/json' };
/** `Response` allows no higher status. */
const MAX_STATUS = 599;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205]);

/** Converts errors of the library, which contain the response with its tokens. */
async function answerOf(work: () => Promise<object>): Promise<JsonObject | OauthRefusal> {
  try {
    return (await work()) as JsonObject;
  } catch (cause) {
    if (cause instanceof ResponseBodyError) return new OauthRefusal(cause.status, { error: cause.error });
    if (isInvalidUrl(cause)) return new OauthRefusal(200, { problem: 'its "issuer" property is not a URL' });
    if (!(cause instanceof OperationProcessingError || cause instanceof UnsupportedOperationError)) throw cause;
    if (cause.cause instanceof Response) return new OauthRefusal(cause.cause.status);
    return new OauthRefusal(200, { problem: cause.message.replace('"response" body ', 'its ') });
  }
}

function isInvalidUrl(cause: unknown): boolean {
  return cause instanceof TypeError && 'code' in cause && cause.code === 'ERR_INVALID_URL';
}
