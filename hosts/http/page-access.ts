import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isOwnOrigin } from '@toolmgr/core';

/**
 * How a listener serves a protected page: `elsewhere` means another listener serves it and this one answers 404.
 * Otherwise it is served, and a request must carry the token if there is one.
 */
export type PageAccess = 'elsewhere' | { readonly tokenDigest: Buffer | undefined };

/** Why a request is refused. */
export interface PageRefusal {
  readonly status: 401 | 403 | 404;
  readonly title: string;
  readonly detail: string;
  /** Value of `WWW-Authenticate`. */
  readonly challenge?: string;
}

/** Access with a bearer token, or for everyone when `token` is undefined. Only a digest of the token is kept. */
export function pageAccess(token: string | undefined): PageAccess {
  return { tokenDigest: token === undefined ? undefined : digestOf(token) };
}

/**
 * Checks a request for a protected page. Tokens are compared in constant time; a token in the query is ignored
 * (RFC 6750 §2.3: it would end up in logs).
 */
export function pageRefusal(access: PageAccess, headers: IncomingHttpHeaders): PageRefusal | undefined {
  if (access === 'elsewhere') return NOT_SERVED_HERE;
  const { origin, host, authorization } = headers;
  if (origin !== undefined && !isOwnOrigin(origin, host)) return FOREIGN_ORIGIN;
  if (access.tokenDigest === undefined) return undefined;
  const given = BEARER.exec(authorization ?? '')?.[1];
  if (given === undefined) return NO_TOKEN;
  return timingSafeEqual(digestOf(given), access.tokenDigest) ? undefined : WRONG_TOKEN;
}

const BEARER = /^bearer +([^ ]+) *$/i;

/** The same response as for a path that the gateway does not serve. */
const NOT_SERVED_HERE: PageRefusal = { status: 404, title: 'Not Found', detail: 'nothing is served at this path' };
const FOREIGN_ORIGIN: PageRefusal = {
  status: 403,
  title: 'Forbidden',
  detail: 'pages of other origins may not read this',
};
const NO_TOKEN: PageRefusal = {
  status: 401,
  title: 'Unauthorized',
  detail: 'this page needs a bearer token',
  challenge: 'Bearer realm="status pages"',
};
const WRONG_TOKEN: PageRefusal = {
  ...NO_TOKEN,
  detail: 'the bearer token is not the token of this page',
  challenge: 'Bearer realm="status pages", error="invalid_token"',
};

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
