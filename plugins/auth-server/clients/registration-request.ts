import type { JsonObject } from '@toolmgr/core';
import { TOKEN_EXCHANGE } from '../delegation/token-exchange.ts';
import {
  applicationType,
  asciiProblem,
  type ClientMetadata,
  clientName,
  invalidMetadata,
  invalidRedirect,
  isRefusal,
  type MetadataRefusal,
  PERSON_GRANTS,
  redirectUris,
  scopeText,
  textList,
  wantsCodes,
  webPage,
} from './client-metadata.ts';
import type { ClientScopes } from './client-scopes.ts';
import { isLocalRedirect } from './redirect-uri.ts';

/** What clients may register. */
export interface RegistrationRules {
  readonly scopes: ClientScopes;
  /** Clients may register with a secret. */
  readonly confidentialClients: boolean;
}

/**
 * The metadata of a registration request, or why it is refused. Unknown members are ignored (RFC 7591 §2).
 *
 * A client that asks for a secret where none is given is registered without one; the response says so (§3.2.1). Claude
 * asks for `client_secret_post` whatever the server supports.
 */
export function readRegistration(body: JsonObject, rules: RegistrationRules): ClientMetadata | MetadataRefusal {
  const uris = redirectUris(body.redirect_uris, { allowsOwnSchemes: true });
  if (isRefusal(uris)) return uris;
  const method = authMethod(body, rules);
  if (typeof method !== 'string') return method;
  if (method !== 'none' && uris.some(isLocalRedirect)) {
    return invalidRedirect('redirect_uris: a client with a secret needs https with a public host');
  }
  const grants = grantTypes(body, method);
  if (isRefusal(grants)) return grants;
  if (!wantsCodes(body.response_types) || (textList(body.response_types) ?? ['code']).length !== 1) {
    return invalidMetadata('response_types: expected ["code"]');
  }
  const scope = scopeText(body.scope, rules.scopes);
  if (typeof scope !== 'string') return scope;
  const name = clientName(body.client_name);
  if (typeof name === 'object') return name;
  const odd = asciiProblem('software_id', body.software_id) ?? asciiProblem('software_version', body.software_version);
  if (odd !== undefined) return odd;
  const page = webPage(body.client_uri);
  return {
    ...(name === undefined ? {} : { client_name: name }),
    ...(page === undefined ? {} : { client_uri: page }),
    redirect_uris: uris,
    grant_types: grants,
    response_types: ['code'],
    scope,
    token_endpoint_auth_method: method,
    application_type: applicationType(uris),
  };
}

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

function authMethod(
  { token_endpoint_auth_method: wanted }: JsonObject,
  { confidentialClients }: RegistrationRules,
): ClientMetadata['token_endpoint_auth_method'] | MetadataRefusal {
  if (wanted === undefined || wanted === null || wanted === 'none') return 'none';
  const secret = SECRET_METHODS.find((each) => each === wanted);
  if (secret !== undefined) return confidentialClients ? secret : 'none';
  const methods = ['none', ...(confidentialClients ? SECRET_METHODS : [])];
  return invalidMetadata(`token_endpoint_auth_method: expected ${methods.join(' or ')}`);
}

function grantTypes(
  { grant_types: wanted }: JsonObject,
  method: ClientMetadata['token_endpoint_auth_method'],
): readonly string[] | MetadataRefusal {
  if (wanted === undefined || wanted === null) return PERSON_GRANTS;
  // a client with a secret may exchange its own tokens
  const allowed: readonly string[] = method === 'none' ? PERSON_GRANTS : [...PERSON_GRANTS, TOKEN_EXCHANGE];
  const grants = textList(wanted);
  const isAllowed = grants?.includes('authorization_code') === true && grants.every((each) => allowed.includes(each));
  if (!isAllowed)
    return invalidMetadata(`grant_types: expected authorization_code, and no others than ${allowed.join(', ')}`);
  return [...new Set(grants)];
}
