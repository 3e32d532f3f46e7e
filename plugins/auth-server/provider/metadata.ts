import type { JsonObject } from '@toolmgr/core';
import { ID_TOKEN_CLAIMS } from './interaction-policy.ts';

/** What the metadata documents say. */
export interface MetadataParts {
  readonly issuer: string;
  /** Base URL of the authorization endpoint. */
  readonly browserBase: string;
  readonly supportedScopes: readonly string[];
  readonly signingAlgorithms: readonly string[];
  readonly allowsSecrets: boolean;
  readonly allowsDocuments: boolean;
  /** Besides `authorization_code` and `refresh_token`. */
  readonly furtherGrants: readonly string[];
}

/** The document of RFC 8414. */
export function oauthMetadata(parts: MetadataParts): JsonObject {
  const { issuer, browserBase, supportedScopes, allowsSecrets, allowsDocuments, furtherGrants } = parts;
  const methods = allowsSecrets ? ['none', 'client_secret_basic', 'client_secret_post'] : ['none'];
  return {
    issuer,
    authorization_endpoint: `${browserBase}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: methods,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    scopes_supported: supportedScopes,
    grant_types_supported: ['authorization_code', 'refresh_token', ...furtherGrants],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: allowsDocuments,
  };
}

/** The document of OpenID Connect Discovery. */
export function openidMetadata(parts: MetadataParts): JsonObject {
  return {
    ...oauthMetadata(parts),
    subject_types_supported: ['public'],
    claims_supported: Object.values(ID_TOKEN_CLAIMS).flat(),
    id_token_signing_alg_values_supported: parts.signingAlgorithms,
  };
}

const WELL_KNOWN = {
  oauth: '/.well-known/oauth-authorization-server',
  openid: '/.well-known/openid-configuration',
} as const;

/**
 * The paths of a document, for an issuer with the path `issuerPath` (empty for none): at the root, with the issuer's path
 * inserted (RFC 8414 §3.1), and with it in front (OpenID Connect Discovery §4).
 */
export function metadataPaths(document: keyof typeof WELL_KNOWN, issuerPath: string): readonly string[] {
  const wellKnown = WELL_KNOWN[document];
  return [...new Set([wellKnown, `${wellKnown}${issuerPath}`, `${issuerPath}${wellKnown}`])];
}
