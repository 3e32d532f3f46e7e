import { isIP } from 'node:net';
import { LOOPBACK, notPublic } from './public-address.ts';

/** Which addresses may be connected to. Default: public ones. */
export interface AddressRules {
  /** Allows loopback, private, link-local (cloud metadata) and other special addresses. */
  readonly allowPrivateAddresses?: boolean;
  /** Allows loopback addresses, and no other special ones. */
  readonly allowLoopback?: boolean;
}

/** Which URLs are allowed. Default: only https to public addresses. */
export interface UrlRules extends AddressRules {
  /** Allows plain `http:` URLs, all of them or those of this machine. */
  readonly allowHttp?: boolean | 'loopback';
}

/**
 * Why the rules forbid a URL; `undefined` when it is allowed. Names are checked when connecting. For configuration schemas, so
 * that errors are reported at the start with their path.
 */
export function remoteUrlProblem(url: string, rules: UrlRules): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return 'expected an absolute URL';
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return 'expected a URL that starts with https://';
  const isHttpAllowed = rules.allowHttp === 'loopback' ? isLoopbackName(parsed.hostname) : rules.allowHttp === true;
  if (parsed.protocol === 'http:' && !isHttpAllowed) return 'expected https; plain http is not allowed';
  if (parsed.username !== '' || parsed.password !== '') return 'expected a URL without user name and password';
  return addressProblem(parsed.hostname, rules);
}

/** The error text for a forbidden address; `undefined` for names. */
export function addressProblem(
  host: string,
  { allowPrivateAddresses, allowLoopback }: AddressRules,
): string | undefined {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (allowPrivateAddresses === true || isIP(address) === 0) return undefined;
  const description = notPublic(address);
  if (allowLoopback === true && description === LOOPBACK) return undefined;
  return description === undefined ? undefined : `leads to ${description}, which is not allowed`;
}

/** Whether requests to a host of a URL stay on this machine. */
function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** A URL for logs and errors, without query and fragment, which may contain secrets. */
export function plainUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'an invalid URL' : `${parsed.origin}${parsed.pathname}`;
}
