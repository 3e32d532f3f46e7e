import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * How a guarded page is reached at one listener: `elsewhere` it is not served at all; otherwise it is, to who brings
 * the token where there is one.
 */
export type PageAccess = 'elsewhere' | { readonly tokenDigest: Buffer | undefined };

/** Why a request gets no page. */
export interface PageRefusal {
  readonly status: 401 | 403 | 404;
  readonly title: string;
  readonly detail: string;
  /** Value of `WWW-Authenticate`. */
  readonly challenge?: string;
}

/** A page for those who bring the token, everybody when there is none. The token itself is not kept. */
export function pageAccess(token: string | undefined): PageAccess {
  return { tokenDigest: token === undefined ? undefined : digestOf(token) };
}

/**
 * Looks at one request of a guarded page. Tokens are compared in the same time whatever they share; one in the query
 * counts for nothing (RFC 6750 §2.3: it would end up in logs).
 */
export function pageRefusal(access: PageAccess, headers: IncomingHttpHeaders): PageRefusal | undefined {
  if (access === 'elsewhere') return ELSEWHERE;
  const { origin, authorization } = headers;
  if (origin !== undefined && !LOOPBACK_ORIGIN.test(origin)) return FOREIGN_ORIGIN;
  if (access.tokenDigest === undefined) return undefined;
  const given = BEARER.exec(authorization ?? '')?.[1];
  if (given === undefined) return NO_TOKEN;
  return timingSafeEqual(digestOf(given), access.tokenDigest) ? undefined : WRONG_TOKEN;
}

const BEARER = /^bearer +([^ ]+) *$/i;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** In the words of the gateway, for any path that it does not serve. */
const ELSEWHERE: PageRefusal = { status: 404, title: 'Not Found', detail: 'nothing is served at this path' };
const FOREIGN_ORIGIN: PageRefusal = { status: 403, title: 'Forbidden', detail: 'this Origin is not allowed' };
const NO_TOKEN: PageRefusal = {
  status: 401,
  title: 'Unauthorized',
  detail: 'this page needs a bearer token',
  challenge: 'Bearer realm="status pages"',
};
const WRONG_TOKEN: PageRefusal = {
  ...NO_TOKEN,
  detail: 'this is not the token of this page',
  challenge: 'Bearer realm="status pages", error="invalid_token"',
};

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
