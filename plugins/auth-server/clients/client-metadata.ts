import type { JsonValue } from '@toolmgr/core';
import { type ClientScopes, scopesOfClient } from './client-scopes.ts';
import { isLocalRedirect, type RedirectRules, redirectUriProblem } from './redirect-uri.ts';

/** Grants that a person takes part in. */
export const PERSON_GRANTS = ['authorization_code', 'refresh_token'] as const;

/** What the authorization server knows of a client. Names as in RFC 7591 §2. */
export interface ClientMetadata {
  readonly client_name?: string;
  readonly client_uri?: string;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  readonly scope: string;
  readonly token_endpoint_auth_method: 'none' | 'client_secret_basic' | 'client_secret_post';
  /** Derived: oidc-provider accepts any port of a loopback redirect for `native` only. */
  readonly application_type: 'native' | 'web';
}

/** Why metadata is refused (RFC 7591 §3.2.2). The description names the member and what was expected. */
export interface MetadataRefusal {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';
  readonly description: string;
  /** The same request may succeed later. */
  readonly isTemporary?: true;
}

/** Whether a value is a refusal. */
export function isRefusal(value: object): value is MetadataRefusal {
  return 'error' in value;
}

const MAX_REDIRECTS = 10;
const MAX_TEXT = 256;
const MAX_URL = 2048;
const MAX_SCOPES = 100;

/** Control characters, and characters that change the direction of text on a page. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** The redirect URIs, each once. */
export function redirectUris(value: JsonValue | undefined, rules: RedirectRules): readonly string[] | MetadataRefusal {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_REDIRECTS) {
    return invalidRedirect(`redirect_uris: expected 1 to ${MAX_REDIRECTS} URIs`);
  }
  for (const [index, uri] of (value as JsonValue[]).entries()) {
    const problem = typeof uri === 'string' ? redirectUriProblem(uri, rules) : 'expected a text';
    if (problem !== undefined) return invalidRedirect(`redirect_uris[${index}]: ${problem}`);
  }
  const uris = [...new Set(value as string[])];
  const isMixed = uris.some(isLocalHttps) && applicationType(uris.filter((uri) => !isLocalHttps(uri))) === 'native';
  return isMixed
    ? invalidRedirect('redirect_uris: expected no https URI with a loopback host beside local ones')
    : uris;
}

/** How oidc-provider has to compare redirect URIs. */
export function applicationType(uris: readonly string[]): ClientMetadata['application_type'] {
  return uris.some((uri) => !isLocalHttps(uri) && isLocalRedirect(uri)) ? 'native' : 'web';
}

function isLocalHttps(uri: string): boolean {
  return uri.startsWith('https:') && isLocalRedirect(uri);
}

/** The scopes; a text with spaces or a list. */
export function scopeText(value: JsonValue | undefined, scopes: ClientScopes): string | MetadataRefusal {
  const wanted = scopeList(value);
  if (wanted === undefined || wanted.length > MAX_SCOPES) {
    return invalidMetadata(`scope: expected at most ${MAX_SCOPES} scopes, as a text with spaces or as a list of texts`);
  }
  const outcome = scopesOfClient(wanted, scopes);
  if ('scopes' in outcome) return outcome.scopes.join(' ');
  return invalidMetadata(`scope: expected some of ${scopes.supported.join(' ')}`);
}

function scopeList(value: JsonValue | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return value.split(' ').filter((each) => each !== '');
  return textList(value);
}

/** A list of texts; `undefined` for anything else. */
export function textList(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? (value as string[]) : undefined;
}

/** The name for people: at most 256 characters that cannot disturb a page. */
export function clientName(value: JsonValue | undefined): string | undefined | MetadataRefusal {
  if (value === undefined || value === null || value === '') return undefined;
  const isName = typeof value === 'string' && value.length <= MAX_TEXT && !UNSAFE.test(value);
  return isName
    ? value
    : invalidMetadata(`client_name: expected at most ${MAX_TEXT} characters, none of them invisible`);
}

/** A text of printable ASCII, e.g. `software_id`; kept nowhere. */
export function asciiProblem(name: string, value: JsonValue | undefined): MetadataRefusal | undefined {
  if (value === undefined || value === null) return undefined;
  const isText = typeof value === 'string' && value.length <= MAX_TEXT && /^[\x20-\x7e]*$/.test(value);
  return isText ? undefined : invalidMetadata(`${name}: expected at most ${MAX_TEXT} printable ASCII characters`);
}

/** A web page of the client. Anything else is left out, because it is only shown. */
export function webPage(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_URL || UNSAFE.test(value)) return undefined;
  const parsed = URL.parse(value);
  return parsed?.protocol === 'https:' && parsed.username === '' && parsed.password === '' ? parsed.href : undefined;
}

/** Whether `response_types` asks for codes, or for nothing in particular. */
export function wantsCodes(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || textList(value)?.includes('code') === true;
}

export function invalidRedirect(description: string): MetadataRefusal {
  return { error: 'invalid_redirect_uri', description };
}

export function invalidMetadata(description: string): MetadataRefusal {
  return { error: 'invalid_client_metadata', description };
}
