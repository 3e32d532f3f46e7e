import type { Inbound, JsonObject, RouteAnswer, RouteTable } from '@toolmgr/core';
import { isResourceUrl, type OidcConfig } from './config.ts';
import { allScopes } from './contract.ts';

/** The protected resource metadata of the gateway. */
export interface ResourceMetadata {
  /** `Bearer` challenge with the metadata URL and the scopes, without an error. */
  challenge(inbound: Inbound): string;
  /** The challenge for a token that lacks scopes. Source: RFC 6750 §3.1. */
  insufficientScope(inbound: Inbound, scopes: readonly string[]): string;
  /** Serves the metadata at all paths that clients use. */
  mount(routes: RouteTable): void;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * Creates the metadata of one configuration.
 *
 * The resource is `resource`, else the audience when it is a URL, else the URL that the client used: clients
 * compare it with the URL they connect to.
 * Source: RFC 9728 §2, §3.1 (the path of the resource follows the well-known path), §5.1.
 */
export function createResourceMetadata(config: OidcConfig): ResourceMetadata {
  const fixed = [config.resource, config.audience].find((each) => each !== undefined && isResourceUrl(each));
  const scope = config.scopes.length === 0 ? '' : `, scope="${config.scopes.join(' ')}"`;
  const supported = allScopes(config);
  const pointerTo = (resource: string | undefined): string =>
    resource === undefined ? 'realm="MCP"' : `resource_metadata="${metadataUrl(resource)}"`;
  const ready = fixed === undefined ? undefined : `Bearer ${pointerTo(fixed)}${scope}`;
  let endpointPath = '/mcp';

  const resourceOf = ({ headers: { host } }: Inbound): string | undefined => {
    if (fixed !== undefined) return fixed;
    return host !== undefined && HOST.test(host) ? `http://${host}${endpointPath}` : undefined;
  };

  return {
    challenge(inbound) {
      return ready ?? `Bearer ${pointerTo(resourceOf(inbound))}${scope}`;
    },
    insufficientScope: (inbound, scopes) =>
      `Bearer error="insufficient_scope", scope="${scopes.join(' ')}", ${pointerTo(resourceOf(inbound))}`,
    mount(routes) {
      endpointPath = routes.endpointPath;
      const ownPath = fixed === undefined ? '' : pathOf(fixed);
      for (const path of new Set(['', endpointPath, ownPath])) {
        const answer: RouteAnswer = (inbound, _body, responder) => {
          const document = metadata(resourceOf(inbound), config, supported);
          responder.send(200, METADATA_HEADERS, JSON.stringify(document));
        };
        routes.add('GET', `${WELL_KNOWN}${path}`, answer, { origins: 'any' }); // as that of the authorization server
      }
    },
  };
}

const METADATA_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

function metadata(
  resource: string | undefined,
  { issuer, audience }: OidcConfig,
  scopes: readonly string[],
): JsonObject {
  return {
    resource: resource ?? audience,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
  };
}

function metadataUrl(resource: string): string {
  return `${new URL(resource).origin}${WELL_KNOWN}${pathOf(resource)}`;
}

/** The path of a resource; empty for the root. */
function pathOf(resource: string): string {
  const { pathname } = new URL(resource);
  return pathname === '/' ? '' : pathname;
}
