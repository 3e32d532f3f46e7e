import type { JsonObject } from '@toolmgr/core';
import {
  applicationType,
  type ClientMetadata,
  clientName,
  invalidMetadata,
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
import { hasDotSegment } from './redirect-uri.ts';

const MAX_ID_LENGTH = 2048;

/**
 * Whether a client id is the URL of a metadata document: https (or http with a loopback host where that is allowed), a path,
 * no fragment, user name or dot segments, and written as a browser would write it.
 * Source: draft-ietf-oauth-client-id-metadata-document §3.
 */
export function isDocumentUrl(id: string, allowsLoopback: boolean): boolean {
  if (id.length > MAX_ID_LENGTH || !/^https?:\/\//.test(id) || id.includes('#') || hasDotSegment(id)) return false;
  const parsed = URL.parse(id);
  if (parsed === null || parsed.href !== id || parsed.pathname === '/') return false;
  if (parsed.username !== '' || parsed.password !== '') return false;
  return parsed.protocol === 'https:' || (allowsLoopback && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(parsed.hostname));
}

/** The metadata of a document, or why the client is refused. Grants that this server lacks are left out. */
export function readDocument(id: string, document: JsonObject, scopes: ClientScopes): ClientMetadata | MetadataRefusal {
  if (document.client_id !== id) return invalidMetadata('client_id: expected the URL of the document');
  const method = document.token_endpoint_auth_method;
  if ('client_secret' in document) return invalidMetadata('client_secret: expected none in a public document');
  if (method !== undefined && method !== 'none') return invalidMetadata('token_endpoint_auth_method: expected none');
  const uris = redirectUris(document.redirect_uris, { allowsOwnSchemes: false });
  if (isRefusal(uris)) return uris;
  const given = document.grant_types === undefined ? PERSON_GRANTS : textList(document.grant_types);
  const grants = PERSON_GRANTS.filter((grant) => given?.includes(grant));
  if (!grants.includes('authorization_code')) return invalidMetadata('grant_types: expected authorization_code');
  if (!wantsCodes(document.response_types)) return invalidMetadata('response_types: expected code');
  const scope = scopeText(document.scope, scopes);
  if (typeof scope !== 'string') return scope;
  const name = clientName(document.client_name);
  if (typeof name === 'object') return name;
  const page = webPage(document.client_uri);
  return {
    ...(name === undefined ? {} : { client_name: name }),
    ...(page === undefined ? {} : { client_uri: page }),
    redirect_uris: uris,
    grant_types: grants,
    response_types: ['code'],
    scope,
    token_endpoint_auth_method: 'none',
    application_type: applicationType(uris),
  };
}
