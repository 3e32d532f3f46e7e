import type { JsonObject } from '@toolmgr/core';
import { plainUrl } from '@toolmgr/plugins/kit/safe-http/addresses';
import { providerFault } from '../failures.ts';
import { objectIn, type ProviderHttp } from '../provider/provider-http.ts';
import { textsIn, usedMetadata } from '../provider/provider-metadata.ts';
import type { addressRules } from '../provider/provider-urls.ts';
import type { DcrConfig, Oauth2Config } from './oauth2-config.ts';

/** Where an OAuth 2.0 provider answers, configured or from its metadata. */
export interface Oauth2Endpoints {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly revocationUrl?: string;
  readonly registrationUrl?: string;
  /** Known only from metadata; the `iss` of a redirect is compared with it (RFC 9207). */
  readonly issuer?: string;
  readonly sendsIssuer: boolean;
  /** Absent when the metadata does not say. */
  readonly authMethods?: readonly string[];
  /** Its metadata lists PKCE with S256. */
  readonly checksPkce: boolean;
  /** `scopes_supported`; empty when the metadata does not say. */
  readonly scopes: readonly string[];
}

/** The endpoints of a provider without metadata. */
export function configuredEndpoints({
  authorizationEndpoint,
  tokenEndpoint,
  dcrConfig,
}: Oauth2Config): Oauth2Endpoints {
  return {
    authorizationUrl: authorizationEndpoint ?? '', // the schema requires both
    tokenUrl: tokenEndpoint ?? '',
    ...(dcrConfig?.registrationEndpoint === undefined ? {} : { registrationUrl: dcrConfig.registrationEndpoint }),
    sendsIssuer: false,
    checksPkce: false,
    scopes: [],
  };
}

/**
 * Reads the metadata document with one GET. Configured endpoints take precedence over those of the document.
 * @throws GatewayFault REMOTE_UNAVAILABLE when it is not the document of its issuer or lacks an endpoint; those of `ProviderHttp`
 */
export async function requestEndpoints(
  upstream: string,
  http: ProviderHttp,
  { dcrConfig, authorizationEndpoint, tokenEndpoint }: Oauth2Config & { readonly dcrConfig?: DcrConfig | undefined },
  rulesOf: ReturnType<typeof addressRules>,
  signal: AbortSignal,
): Promise<Oauth2Endpoints> {
  const url = dcrConfig?.discoveryUrl ?? '';
  const answer = await http.send(url, { headers: { accept: 'application/json' }, signal });
  if (answer.status !== 200) throw providerFault(upstream, `${plainUrl(url)} answered with status ${answer.status}`);
  const document = usedMetadata(objectIn(answer, url), rulesOf);
  const issuer = issuerOf(url);
  if (typeof document.issuer !== 'string' || withoutSlash(document.issuer) !== issuer) {
    throw providerFault(upstream, `${plainUrl(url)} is not about the issuer ${issuer}`);
  }
  const authorizationUrl = authorizationEndpoint ?? document.authorization_endpoint;
  const tokenUrl = tokenEndpoint ?? document.token_endpoint;
  if (typeof authorizationUrl !== 'string') throw lacks(upstream, url, 'authorization_endpoint');
  if (typeof tokenUrl !== 'string') throw lacks(upstream, url, 'token_endpoint');
  const methods = document.token_endpoint_auth_methods_supported;
  return {
    authorizationUrl,
    tokenUrl,
    ...optional('revocationUrl', document.revocation_endpoint),
    // requests to it follow the same rules as those to a discovered one
    registrationUrl: textOr(document.registration_endpoint, `${issuer}/register`),
    issuer: document.issuer,
    sendsIssuer: document.authorization_response_iss_parameter_supported === true,
    ...(methods === undefined ? {} : { authMethods: textsIn(methods) }),
    checksPkce: textsIn(document.code_challenge_methods_supported).includes('S256'),
    scopes: textsIn(document.scopes_supported),
  };
}

/**
 * The issuer that a document at this URL is about: by suffix (`ISSUER/.well-known/…`), by insertion (`/.well-known/…/PATH`), or the
 * origin for a path of the provider's own. Source: OpenID Connect Discovery §4, RFC 8414 §3.
 */
export function issuerOf(discoveryUrl: string): string {
  const { origin, pathname } = new URL(discoveryUrl);
  const [, before = '', after = ''] = WELL_KNOWN.exec(pathname) ?? [];
  return withoutSlash(origin + (before === '' ? after : before));
}

const WELL_KNOWN = /^(.*)\/\.well-known\/(?:openid-configuration|oauth-authorization-server)(\/.+)?$/;

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

function lacks(upstream: string, url: string, member: string) {
  return providerFault(upstream, `${plainUrl(url)} has no ${member} that may be used; set it in oauth2Config`);
}

function textOr(value: JsonObject[string] | undefined, other: string): string {
  return typeof value === 'string' ? value : other;
}

function optional<K extends string>(key: K, value: JsonObject[string] | undefined): { readonly [P in K]?: string } {
  return typeof value === 'string' ? ({ [key]: value } as { readonly [P in K]: string }) : {};
}
