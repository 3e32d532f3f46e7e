import {
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  OperationProcessingError,
  UnsupportedOperationError,
  validateAuthResponse,
} from 'oauth4webapi';
import type { OauthServer } from './server-metadata.ts';

/** A request for an authorization code, with what its response is checked against. */
export interface AuthorizationRequest {
  /** For the browser of the user. */
  readonly url: string;
  readonly state: string;
  /** PKCE; sent with the code. */
  readonly verifier: string;
}

/** What is requested. */
export interface WantedAuthorization {
  readonly clientId: string;
  readonly redirectUri: string;
  /** Resource indicator (RFC 8707). */
  readonly resource?: string;
  /** Empty: the parameter is left out. */
  readonly scopes: readonly string[];
  /** Name of the parameter with the scopes. Default: `scope`. */
  readonly scopeParameter?: string;
  /** Further parameters; they replace none of the others. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** Makes a request with PKCE (S256) and a random state. Source: RFC 6749 §4.1.1, RFC 7636, RFC 8707. */
export async function authorizationRequest(
  { authorizationUrl }: Pick<OauthServer, 'authorizationUrl'>,
  wanted: WantedAuthorization,
): Promise<AuthorizationRequest> {
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const url = new URL(authorizationUrl);
  const { scopes, scopeParameter = 'scope', extra = {} } = wanted;
  const parameters = {
    ...extra,
    response_type: 'code',
    client_id: wanted.clientId,
    redirect_uri: wanted.redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(wanted.resource === undefined ? {} : { resource: wanted.resource }),
    ...(scopes.length === 0 ? {} : { [scopeParameter]: scopes.join(' ') }),
    // OpenID Connect Core §11: without it a request for offline access is ignored
    ...(scopes.includes('offline_access') ? { prompt: 'consent' } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, state, verifier };
}

/** The code of an authorization response, or why it is refused: an error code of the server, or a problem. */
export type AuthorizationOutcome =
  | { readonly code: string }
  | { readonly error: string }
  | { readonly problem: string };

/** Checks an authorization response: `iss` (RFC 9207) before `state` before everything else. */
export function readAuthorizationResponse(
  server: Pick<OauthServer, 'issuer' | 'sendsIssuer'>,
  clientId: string,
  parameters: URLSearchParams,
  state: string,
): AuthorizationOutcome {
  const given = new URLSearchParams(parameters);
  // without a configured or discovered issuer there is nothing to compare it with
  if (server.issuer === undefined) given.delete('iss');
  const expected = {
    issuer: server.issuer ?? 'none',
    authorization_response_iss_parameter_supported: server.issuer !== undefined && server.sendsIssuer,
  };
  try {
    const code = validateAuthResponse(expected, { client_id: clientId }, given, state).get('code');
    return code ? { code } : { problem: 'it has no code' };
  } catch (cause) {
    if (cause instanceof AuthorizationResponseError) return { error: cause.error };
    if (cause instanceof OperationProcessingError || cause instanceof UnsupportedOperationError) {
      return { problem: cause.message };
    }
    throw cause;
  }
}
