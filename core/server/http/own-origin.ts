import { isIP } from 'node:net';

/**
 * Whether a page comes from the address that it sends a request to: the Origin has the Host of the request. The loopback names of
 * one port are one origin, so a page at `http://localhost:4483` may use `http://127.0.0.1:4483`.
 *
 * @param hostIsChecked the Host is one that this listener serves. Otherwise only loopback names and addresses count, because any
 * page can give its own name this address (DNS rebinding)
 */
export function isOwnOrigin(origin: string, host: string | undefined, hostIsChecked = false): boolean {
  const page = URL.parse(origin);
  if (page === null || page.origin !== origin.toLowerCase() || !SCHEMES.has(page.protocol)) return false;
  const own = URL.parse(`${page.protocol}//${host}`);
  if (own === null || own.port !== page.port) return false;
  if (isLoopbackName(own.hostname)) return isLoopbackName(page.hostname);
  return own.hostname === page.hostname && (hostIsChecked || isIP(own.hostname.replace(BRACKETS, '')) !== 0);
}

/** Whether a host name, without port, is one of this machine only. */
export function isLoopbackName(name: string): boolean {
  return LOOPBACK_NAME.test(name);
}

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:']);
const BRACKETS = /^\[|\]$/g;
const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
