import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';

/** Which names the manager answers to. */
export interface GuardOptions {
  /** Names without port; absent on a unix socket, which no browser reaches. */
  readonly allowedHosts?: readonly string[];
  /** Any IP address is allowed as `Host`: for listeners that are not on loopback. DNS rebinding needs a name. */
  readonly allowsAddresses?: boolean;
}

/**
 * Checks the headers and the URL of a request before anything else: DNS rebinding, other sites, tokens in URLs.
 *
 * `checksOrigin`: the route has a rule of its own for pages of other origins, as the MCP endpoints do.
 */
export function createGuard({ allowedHosts, allowsAddresses = false }: GuardOptions) {
  const allowed = allowedHosts && new Set(allowedHosts.map((name) => name.toLowerCase()));
  return (headers: IncomingHttpHeaders, url: string, checksOrigin = false): Problem | undefined => {
    const { host = '', origin } = headers;
    if (allowed !== undefined && !isAllowedHost(host)) {
      return problem('forbidden', 'the Host header names another machine; toolmgr serve --allow-host NAME adds a name');
    }
    if (!checksOrigin && origin !== undefined && !isSameOrigin(origin, host)) {
      return problem('forbidden', 'pages of other origins may not use this API');
    }
    const site = headers['sec-fetch-site'];
    if (!checksOrigin && site !== undefined && !OWN_SITE.has(String(site)) && !isNavigation(headers)) {
      return problem('forbidden', 'pages of other sites may not use this API');
    }
    if (TOKEN_IN_URL.test(url)) {
      return problem(
        'bad_request',
        'a token in a URL is kept in logs and histories: send it as "Authorization: Bearer TOKEN"',
      );
    }
    return undefined;
  };

  function isAllowedHost(host: string): boolean {
    const name = host.replace(/:\d*$/, '').toLowerCase();
    return allowed?.has(name) === true || (allowsAddresses && isIP(name.replace(/^\[|\]$/g, '')) !== 0);
  }
}

const OWN_SITE: ReadonlySet<string> = new Set(['same-origin', 'none']);
const TOKEN_IN_URL = /[?&](?:access_token|token|authorization|bearer|api_key)=/i;

/** A link to the page; it changes nothing, and its answer is not readable by the other site. */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function isSameOrigin(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.host === host.toLowerCase();
}
