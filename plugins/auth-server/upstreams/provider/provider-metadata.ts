import type { JsonObject, JsonValue } from '@toolmgr/core';
import { remoteUrlProblem, type UrlRules } from '@toolmgr/plugins/kit/safe-http/addresses';

/** Algorithms of ID tokens: asymmetric ones only, so that a public key is never taken for a shared secret. */
const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const URLS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'revocation_endpoint'];
const LISTS = ['scopes_supported', 'token_endpoint_auth_methods_supported', 'code_challenge_methods_supported'];

/**
 * The members of a metadata document (RFC 8414, OpenID Connect Discovery) that the gateway uses. A URL that the rules forbid is left
 * out, and so is everything else.
 */
export function usedMetadata(document: JsonObject, rulesOf: (url: string) => UrlRules): JsonObject {
  const urls = [...URLS, 'registration_endpoint'].filter((name) => isAllowed(name, document[name], rulesOf));
  const algorithms = textsIn(document.id_token_signing_alg_values_supported).filter((alg) => ALGORITHMS.includes(alg));
  return {
    ...(typeof document.issuer === 'string' ? { issuer: document.issuer } : {}),
    ...Object.fromEntries(urls.map((name) => [name, document[name] as string])),
    ...Object.fromEntries(LISTS.filter((name) => name in document).map((name) => [name, textsIn(document[name])])),
    id_token_signing_alg_values_supported: algorithms.length === 0 ? ['RS256'] : algorithms,
    authorization_response_iss_parameter_supported: document.authorization_response_iss_parameter_supported === true,
  };
}

function isAllowed(name: string, url: JsonValue | undefined, rulesOf: (url: string) => UrlRules): boolean {
  if (typeof url !== 'string') return false;
  const rules = rulesOf(url);
  const isForBrowser = name === 'authorization_endpoint';
  return remoteUrlProblem(url, isForBrowser ? { ...rules, allowPrivateAddresses: true } : rules) === undefined;
}

/** The texts of a list. */
export function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

/** A key set (RFC 7517) with nothing but objects as its keys. */
export function usedKeys(document: JsonObject): JsonObject {
  const keys = Array.isArray(document.keys) ? document.keys : [];
  return {
    keys: keys.filter((each) => typeof each === 'object' && each !== null && !Array.isArray(each)) as JsonValue,
  };
}
