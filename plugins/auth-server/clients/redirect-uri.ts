const MAX_LENGTH = 2048;
const PRINTABLE = /^[\x21-\x7e]+$/;
const WEB = /^(https?):\/\/([^/?]*)/i;
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/** Schemes that browsers and operating systems run, show or save themselves, so they are never an app's own. */
const FORBIDDEN_SCHEMES = new Set(
  (
    'javascript vbscript data blob file filesystem about view-source jar ftp ftps ws wss mailto tel sms intent ' +
    'chrome chrome-extension edge resource moz-extension ms-msdt ms-officecmd ms-appinstaller search search-ms ldap'
  ).split(' '),
);

/** Which redirect URIs a client may have. Documents of CIMD may not name an app's own scheme. */
export interface RedirectRules {
  readonly allowsOwnSchemes: boolean;
}

/**
 * Why a client may not have a redirect URI; `undefined` when it may.
 *
 * Allowed: https with any host, http with a loopback host, and private-use schemes such as `cursor://` (RFC 8252 §7). The
 * text has to be what a browser would make of it, so that all readers agree on the host.
 */
export function redirectUriProblem(uri: string, { allowsOwnSchemes }: RedirectRules): string | undefined {
  if (uri.length > MAX_LENGTH) return `expected at most ${MAX_LENGTH} characters`;
  if (!PRINTABLE.test(uri)) return 'expected ASCII without spaces and control characters (punycode for hosts)';
  if (uri.includes('\\')) return 'expected no backslash';
  if (uri.includes('#')) return 'expected no fragment';
  const parsed = URL.parse(uri);
  if (parsed === null) return 'expected an absolute URI';
  if (hasDotSegment(uri)) return 'expected no dot segments in the path';
  const scheme = parsed.protocol.slice(0, -1);
  if (scheme !== 'https' && scheme !== 'http') {
    if (FORBIDDEN_SCHEMES.has(scheme)) return `the scheme ${scheme} is not allowed`;
    if (!allowsOwnSchemes) return 'expected https, or http with a loopback host';
    return /^[^/]+:\/\/[^/?]*@/.test(uri) ? 'expected no user name and password' : undefined;
  }
  const authority = WEB.exec(uri)?.[2] ?? '';
  if (authority.includes('@')) return 'expected no user name and password';
  const host = authority.replace(/:\d*$/, '').toLowerCase();
  if (host === '' || host !== parsed.hostname) return 'expected a host in its usual form';
  if (scheme === 'http' && !LOOPBACK_HOSTS.has(host)) return 'expected https; http only with a loopback host';
  return undefined;
}

/** Whether a redirect URI stays on the person's machine: a loopback host or an app's own scheme. */
export function isLocalRedirect(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return (protocol !== 'https:' && protocol !== 'http:') || LOOPBACK_HOSTS.has(hostname);
}

/** Whether a path has a segment that readers remove, also in its encoded form. */
export function hasDotSegment(uri: string): boolean {
  const path = uri.replace(/^[^/?#]*:(\/\/[^/?#]*)?/, '').replace(/[?#].*$/s, '');
  return path.split('/').some((segment) => DOT_SEGMENT.test(segment));
}
