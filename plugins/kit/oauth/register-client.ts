import type { JsonObject, Secret } from '@toolmgr/core';
import { customFetch, dynamicClientRegistrationRequest, processDynamicClientRegistrationResponse } from 'oauth4webapi';
import type { RemoteHttp } from '../safe-http/remote-http.ts';
import type { ClientAuthMethod } from './client-authentication.ts';
import { answerOf, OauthRefusal, optionsOf } from './library-options.ts';
import type { OauthServer } from './server-metadata.ts';

/** A client that an authorization server registered. Source: RFC 7591 §3.2.1, RFC 7592 §3. */
export interface RegisteredClient {
  readonly id: string;
  readonly secret?: string;
  /** Epoch milliseconds; absent when it does not expire. */
  readonly secretExpiresAtMs?: number;
  readonly method: ClientAuthMethod;
  readonly registrationUrl?: string;
  readonly registrationToken?: string;
}

/** What the client says about itself. */
export interface WantedClient {
  readonly redirectUri: string;
  /** Empty: none. */
  readonly scopes: readonly string[];
  /** Default: none where the server has public clients, else by its metadata. */
  readonly method?: ClientAuthMethod;
  /** Default: native, an app with a loopback redirect. */
  readonly applicationType?: 'native' | 'web';
  readonly softwareId?: string;
  /** A signed JWT. */
  readonly softwareStatement?: string;
  /** Sent as bearer. Source: RFC 7591 §3. */
  readonly initialAccessToken?: Secret;
}

type RegistrationServer = Pick<OauthServer, 'authMethods' | 'registrationUrl'>;

/**
 * Registers a client for the authorization code grant with refresh tokens. A server that refuses the scopes is asked once more
 * without `openid`: Keycloak allows it for every client, but not in a registration.
 *
 * @throws GatewayFault of `RemoteHttp.send` and `jsonBody`
 */
export async function registerClient(
  http: Pick<RemoteHttp, 'send'>,
  server: RegistrationServer,
  wanted: WantedClient,
  signal: AbortSignal,
): Promise<RegisteredClient | OauthRefusal> {
  const answer = await registerOnce(http, server, wanted, signal);
  const isAboutScopes = answer instanceof OauthRefusal && SCOPE_CODES.has(answer.error ?? '');
  if (!isAboutScopes || !wanted.scopes.includes('openid')) return answer;
  const scopes = wanted.scopes.filter((scope) => scope !== 'openid');
  return registerOnce(http, server, { ...wanted, scopes }, signal);
}

const SCOPE_CODES: ReadonlySet<string> = new Set(['insufficient_scope', 'invalid_scope']);

async function registerOnce(
  http: Pick<RemoteHttp, 'send'>,
  { authMethods, registrationUrl }: RegistrationServer,
  wanted: WantedClient,
  signal: AbortSignal,
): Promise<RegisteredClient | OauthRefusal> {
  const server = { issuer: registrationUrl ?? '', registration_endpoint: registrationUrl ?? '' };
  const { redirectUri, scopes, applicationType = 'native', softwareId, softwareStatement, initialAccessToken } = wanted;
  const method = wanted.method ?? methodFrom(authMethods);
  const metadata = {
    client_name: 'toolmgr',
    application_type: applicationType,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    ...(softwareId === undefined ? {} : { software_id: softwareId }),
    ...(softwareStatement === undefined ? {} : { software_statement: softwareStatement }),
  };
  const { [customFetch]: send, ...options } = optionsOf(http, readClient);
  const answer = await answerOf(async () => {
    const response = await dynamicClientRegistrationRequest(server, metadata, {
      ...options,
      // some servers answer 200
      [customFetch]: async (url, request) => {
        const sent = await send(url, request);
        return sent.status === 200 ? new Response(sent.body, { status: 201, headers: sent.headers }) : sent;
      },
      ...(initialAccessToken === undefined ? {} : { initialAccessToken: initialAccessToken.reveal() }),
      signal,
    });
    return processDynamicClientRegistrationResponse(response);
  });
  return answer instanceof OauthRefusal ? answer : clientFrom(answer, method);
}

/** A public client where the server has them. */
function methodFrom(supported: readonly string[] = ['none']): ClientAuthMethod {
  return METHODS.find((method) => supported.includes(method)) ?? 'none';
}

const METHODS: readonly ClientAuthMethod[] = ['none', 'client_secret_basic', 'client_secret_post'];

/** The library requires the end of a secret, which some servers leave out. */
function readClient(body: JsonObject): JsonObject {
  const { client_secret, client_secret_expires_at } = body;
  const secret = client_secret ? { client_secret, client_secret_expires_at: client_secret_expires_at ?? 0 } : {};
  const { client_id, token_endpoint_auth_method, registration_client_uri, registration_access_token } = body;
  return {
    client_id,
    ...secret,
    token_endpoint_auth_method,
    registration_client_uri,
    registration_access_token,
  } as JsonObject;
}

function clientFrom(body: JsonObject, asked: ClientAuthMethod): RegisteredClient {
  const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = body;
  const { registration_client_uri: url, registration_access_token: token } = body;
  const seconds = Number(client_secret_expires_at ?? 0);
  return {
    id: String(client_id),
    ...(typeof client_secret === 'string' ? { secret: client_secret } : {}),
    ...(typeof client_secret === 'string' && seconds > 0 ? { secretExpiresAtMs: seconds * 1000 } : {}),
    method: METHODS.find((method) => method === token_endpoint_auth_method) ?? asked,
    ...(typeof url === 'string' && typeof token === 'string' ? { registrationUrl: url, registrationToken: token } : {}),
  };
}
