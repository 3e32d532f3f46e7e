import type { Responder, RouteAnswer, RouteTable } from '@toolmgr/core';
import { type AddressLimit, createAddressLimit } from '../clients/address-limit.ts';
import { failedRequestPage } from '../pages/failed-request-page.ts';

/** Requests that one network may send to a kind of endpoint: at once, and then for each second. */
const LIMITS = {
  documents: { burst: 300, perSecond: 50 },
  pages: { burst: 120, perSecond: 10 },
  tokens: { burst: 300, perSecond: 50 }, // a company behind one address
} as const;

/** A kind of public endpoint. */
export type EndpointKind = keyof typeof LIMITS;

/** Limits requests by network, so that one network cannot use up the server. */
export type LimitRequests = (kind: EndpointKind, answer: RouteAnswer) => RouteAnswer;

/** Creates the limits of one server: a token bucket for each network and kind. 429 with `Retry-After` above it. */
export function createAddressLimits(now: () => number): LimitRequests {
  const limits = Object.fromEntries(
    Object.entries(LIMITS).map(([kind, { burst, perSecond }]) => [kind, createAddressLimit(burst, perSecond, now)]),
  ) as Record<EndpointKind, AddressLimit>;
  return (kind, answer) => (inbound, body, responder) => {
    const waitS = limits[kind].take(inbound.remoteAddress);
    return waitS === undefined ? answer(inbound, body, responder) : refuse(responder, kind, String(waitS));
  };
}

/** A table whose routes are limited. */
export function limitedTable(routes: RouteTable, limit: LimitRequests, kind: EndpointKind): RouteTable {
  return {
    endpointPath: routes.endpointPath,
    add: (method, path, answer, options) => routes.add(method, path, limit(kind, answer), options),
    addBelow: (method, path, answer, options) => routes.addBelow(method, path, limit(kind, answer), options),
  };
}

function refuse(responder: Responder, kind: EndpointKind, waitS: string): void {
  if (kind === 'pages') {
    const { status, headers, body } = failedRequestPage(429);
    return responder.send(status, { ...headers, 'retry-after': waitS }, body);
  }
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', 'retry-after': waitS };
  responder.send(429, headers, JSON.stringify(TOO_MANY));
}

const TOO_MANY = { error: 'temporarily_unavailable', error_description: 'too many requests from this network' };
