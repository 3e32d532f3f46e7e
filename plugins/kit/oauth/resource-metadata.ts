import { isObject, type JsonObject } from '@toolmgr/core';
import { jsonFrom, type RemoteHttp } from '../safe-http/remote-http.ts';

/** Metadata of a protected resource. Source: RFC 9728 §2. */
export interface ResourceMetadata {
  /** Identifier of the resource. */
  readonly resource: string;
  /** Issuers of its authorization servers; at least one. */
  readonly authorizationServers: readonly string[];
  /** Scopes to request; absent when the document has none. */
  readonly scopes?: readonly string[];
}

/** What is wrong with a document. */
export interface InvalidMetadata {
  readonly problem: string;
}

/** The addresses of the document of a resource: at its path, then at the root. Source: RFC 9728 §3.1, MCP. */
export function resourceMetadataUrls(resource: string): readonly string[] {
  const { origin, pathname } = new URL(resource);
  const path = pathname.replace(/\/$/, '');
  return path === '' ? [origin + WELL_KNOWN] : [origin + WELL_KNOWN + path, origin + WELL_KNOWN];
}

/**
 * Fetches the document about a resource. It must be about that resource, or about one that contains it.
 * @throws GatewayFault as `RemoteHttp.getJson`
 */
export async function requestResourceMetadata(
  http: RemoteHttp,
  url: string,
  resource: string,
  signal: AbortSignal,
): Promise<ResourceMetadata | InvalidMetadata> {
  return metadataFrom(
    jsonFrom(await http.send(url, { headers: { accept: 'application/json' }, signal }), url),
    resource,
  );
}

function metadataFrom(body: JsonObject, wanted: string): ResourceMetadata | InvalidMetadata {
  if (!isObject(body) || typeof body.resource !== 'string') return { problem: 'has no "resource"' };
  if (!contains(body.resource, wanted)) return { problem: 'is about another resource than this server' };
  const authorizationServers = textsOf(body.authorization_servers);
  if (authorizationServers.length === 0) return { problem: 'names no authorization server' };
  const scopes = body.scopes_supported === undefined ? {} : { scopes: textsOf(body.scopes_supported) };
  return { resource: body.resource, authorizationServers, ...scopes };
}

/** Whether `resource` is `wanted`, or a folder above it at the same origin. */
function contains(resource: string, wanted: string): boolean {
  const [outer, inner] = [URL.parse(resource), URL.parse(wanted)];
  if (outer === null || inner === null || outer.origin !== inner.origin) return false;
  const folder = outer.pathname.replace(/\/?$/, '/');
  return `${inner.pathname.replace(/\/?$/, '/')}`.startsWith(folder);
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string' && each !== '') : [];
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
