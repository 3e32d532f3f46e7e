import type { Inbound, JsonObject, Responder, ResponseHeaders, RouteAnswer, RouteTable } from '@toolmgr/core';
import { isLocalRedirect } from '../clients/redirect-uri.ts';
import { GrantRefusal } from '../delegation/grant-refusal.ts';
import { failedRequestPage, refusedRequestPage } from '../pages/failed-request-page.ts';
import { isStorageFault } from '../storage/storage-fault.ts';
import type { LimitRequests } from './address-limits.ts';
import type { AnswerFollowUps } from './after-answer.ts';
import type { BrowserAnswer } from './interactions.ts';
import { type MetadataParts, metadataPaths, oauthMetadata, openidMetadata } from './metadata.ts';
import { answerByLibrary } from './node-bridge.ts';
import { LIBRARY_ROUTES, SIGN_IN_PATH } from './oidc-configuration.ts';
import type { OidcServer } from './oidc-server.ts';

/** What the routes need. */
export interface RouteParts {
  readonly issuer: string;
  readonly browserBase: string;
  readonly server: OidcServer;
  readonly register: RouteAnswer;
  /** Answers token requests without a client (RFC 7523); `undefined` for others. */
  assertion(inbound: Inbound, body: Buffer): Promise<JsonObject | GrantRefusal | undefined>;
  readonly metadata: MetadataParts;
  readonly followUps: AnswerFollowUps;
  readonly limit: LimitRequests;
}

/** Bytes of a request body. */
const MAX_BODY = 64 * 1024;

/**
 * The paths in front of all routes: none, and those of the issuer and of the browsers' base URL, because a reverse proxy may
 * remove them or not.
 */
export function basePaths({ issuer, browserBase }: Pick<RouteParts, 'issuer' | 'browserBase'>): readonly string[] {
  return [...new Set(['', ...[issuer, browserBase].map((url) => new URL(url).pathname.replace(/\/$/, ''))])];
}

/** Mounts the endpoints of the OAuth server. The sign-in pages are mounted by themselves. */
export function mountOidcRoutes(routes: RouteTable, parts: RouteParts): void {
  const { issuer, browserBase, limit } = parts;
  for (const base of basePaths(parts)) {
    const authorize = limit(
      'pages',
      browserRoute(parts, (path) => path.slice(base.length)),
    );
    routes.add('GET', `${base}${LIBRARY_ROUTES.authorization}`, authorize);
    routes.addBelow('GET', `${base}${LIBRARY_ROUTES.authorization}`, authorize);
    const token = limit('tokens', capped(tokenRoute(parts)));
    const revoke = limit('tokens', capped(revocationRoute(parts)));
    routes.add('POST', `${base}${LIBRARY_ROUTES.token}`, token, ANY_ORIGIN);
    routes.add('POST', `${base}${LIBRARY_ROUTES.revocation}`, revoke, ANY_ORIGIN);
    routes.add('POST', `${base}/oauth/register`, registrationRoute(parts), ANY_ORIGIN);
    routes.add(
      'GET',
      `${base}/.well-known/jwks.json`,
      documentRoute(parts, keySet, 'application/jwk-set+json'),
      ANY_ORIGIN,
    );
  }
  const paths = new Set([issuer, browserBase].map((url) => new URL(url).pathname.replace(/\/$/, '')));
  for (const [kind, document] of [
    ['oauth', oauthMetadata],
    ['openid', openidMetadata],
  ] as const) {
    for (const path of new Set([...paths].flatMap((each) => metadataPaths(kind, each)))) {
      routes.add(
        'GET',
        path,
        documentRoute(parts, ({ metadata }) => document(metadata), 'application/json'),
        ANY_ORIGIN,
      );
    }
  }
}

const ANY_ORIGIN = { origins: 'any' } as const;

const keySet = async ({ server }: RouteParts) => ({ keys: await server.issuer.keys() });

/** A public document. Source: operator and auth, §7.1. */
function documentRoute(
  parts: RouteParts,
  read: (parts: RouteParts) => object | Promise<object>,
  type: string,
): RouteAnswer {
  return parts.limit('documents', async (_inbound, _body, responder) => {
    const headers = {
      'content-type': type,
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
    };
    responder.send(200, headers, JSON.stringify(await read(parts)));
  });
}

/** The token endpoint: assertions are answered here, because the library authenticates a client first. */
function tokenRoute(parts: RouteParts): RouteAnswer {
  const otherGrants = formRoute(parts, LIBRARY_ROUTES.token);
  return async (inbound, body, responder) => {
    try {
      const outcome = await parts.assertion(inbound, body);
      if (outcome === undefined) return await otherGrants(inbound, body, responder);
      if (outcome instanceof GrantRefusal) return sendJson(responder, 400, outcome.error, outcome.description);
      responder.send(200, { 'content-type': 'application/json', ...NOT_STORED }, JSON.stringify(outcome));
    } catch (cause) {
      sendFault(responder, cause);
    }
  };
}

/** The revocation endpoint: access tokens end their session too. */
function revocationRoute(parts: RouteParts): RouteAnswer {
  const answer = formRoute(parts, LIBRARY_ROUTES.revocation);
  return async (inbound, body, responder) => answer(inbound, await parts.server.revocable.exchange(body), responder);
}

/** The registration endpoint: clients read an OAuth error, also while the storage does not answer. */
function registrationRoute({ register }: RouteParts): RouteAnswer {
  return async (inbound, body, responder) => {
    try {
      await register(inbound, body, responder);
    } catch (cause) {
      if (!isStorageFault(cause)) throw cause;
      sendUnavailable(responder);
    }
  };
}

function capped(answer: RouteAnswer): RouteAnswer {
  return (inbound, body, responder) =>
    body.length > MAX_BODY
      ? sendJson(responder, 413, 'invalid_request', `expected a body of at most ${MAX_BODY} bytes`)
      : answer(inbound, body, responder);
}

/** An endpoint that clients send forms to: JSON answers that are not stored. */
function formRoute(parts: RouteParts, path: string): RouteAnswer {
  return async (inbound, body, responder) => {
    const { server, followUps } = parts;
    const answer = await answerByLibrary({ inbound, path, baseUrl: parts.issuer, body }, server.handle);
    if (answer.status === 503) return sendUnavailable(responder);
    if (answer.status >= 500) return sendFault(responder, server.faultOf(answer.request));
    const gone = { isGone: false };
    responder.onDisconnect(() => {
      gone.isGone = true;
    });
    responder.send(answer.status, { ...answer.headers, ...NOT_STORED }, answer.body);
    followUps.add(answer.request, gone);
  };
}

/** An endpoint that browsers are sent to: redirects and pages. */
function browserRoute(parts: RouteParts, libraryPath: (path: string) => string): RouteAnswer {
  return async (inbound, _body, responder) => {
    if (!hasQueryMode(inbound)) return sendPage(responder, failedRequestPage(400, 'unsupported_response_mode'));
    const { server } = parts;
    const { request, status, headers, body } = await answerByLibrary(
      { inbound: asGet(inbound), path: libraryPath(inbound.path), baseUrl: parts.browserBase },
      server.handle,
    );
    if (status >= 500) {
      const isDown = status === 503 || isStorageFault(server.faultOf(request));
      return sendPage(responder, failedRequestPage(isDown ? 503 : 500));
    }
    const site = inbound.path.endsWith(LIBRARY_ROUTES.authorization) ? otherSite(headers, parts) : undefined;
    if (site !== undefined) return sendPage(responder, refusedRequestPage(site));
    responder.send(status, { ...headers, ...NOT_STORED }, body);
  };
}

/** HEAD is answered as GET without the body; the library does not know it at this path. */
function asGet({
  headers,
  query,
  remoteAddress,
}: Inbound): Pick<Inbound, 'method' | 'headers' | 'query' | 'remoteAddress'> {
  return { method: 'GET', headers, query, remoteAddress };
}

/**
 * The URL on another site that a browser is redirected to although no person did anything. Everyone can register a client, so a
 * link with a request that fails would lead from this server to a site of a stranger.
 * Source: RFC 9700 §4.11.2.
 */
function otherSite({ location }: ResponseHeaders, { browserBase }: RouteParts): string | undefined {
  if (typeof location !== 'string' || location.startsWith(`${browserBase}${SIGN_IN_PATH}/`)) return undefined;
  return isLocalRedirect(location) ? undefined : location;
}

/** The library answers `form_post` with a page that has a script, and `fragment` is for browser applications without PKCE. */
function hasQueryMode({ query = '' }: Inbound): boolean {
  return new URLSearchParams(query).getAll('response_mode').every((mode) => mode === 'query');
}

const NOT_STORED = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;
const RETRY_SECONDS = '5';

function sendPage(responder: Responder, { status, headers, body }: BrowserAnswer): void {
  responder.send(status, headers, body);
}

function sendFault(responder: Responder, cause: unknown): void {
  if (isStorageFault(cause)) return sendUnavailable(responder);
  sendJson(responder, 500, 'server_error', 'the request failed');
}

function sendUnavailable(responder: Responder): void {
  sendJson(responder, 503, 'temporarily_unavailable', 'try again later', { 'retry-after': RETRY_SECONDS });
}

function sendJson(
  responder: Responder,
  status: number,
  error: string,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify({ error, error_description: description });
  responder.send(status, { 'content-type': 'application/json', ...NOT_STORED, ...headers }, body);
}
