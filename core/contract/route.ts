import type { Inbound, Responder, ResponseHeaders } from './inbound.ts';

/** Extra HTTP routes that a plugin mounts beside the endpoint: in the hook `mount`, or later until `starting` has finished. */
export interface RouteTable {
  /** Path of the MCP endpoint, e.g. `/mcp`; some well-known paths are derived from it. */
  readonly endpointPath: string;
  /** Mounts one path. @throws GatewayFault ROUTE_TAKEN when method and path are taken */
  add(method: RouteMethod, path: string, answer: RouteAnswer, options?: RouteOptions): void;
  /**
   * Mounts all paths of one more segment below `path`: `/a` means `/a/x`, not `/a`, `/a/` or `/a/x/y`. An exact path wins.
   * @throws GatewayFault ROUTE_TAKEN when method and path are taken
   */
  addBelow(method: RouteMethod, path: string, answer: RouteAnswer, options?: RouteOptions): void;
}

/** Settings of one path. Those of the first method that is mounted there apply to all methods. */
export interface RouteOptions {
  /**
   * Browser origins that may send requests to this path besides those of the endpoint. `any`: every page of the web may,
   * without cookies; for public documents and for endpoints that need no cookie (RFC 8414, OAuth token requests).
   */
  readonly origins?: 'any' | readonly string[];
}

/** Answers one request of an extra route. */
export type RouteAnswer = (inbound: Inbound, body: Buffer, responder: Responder) => void | Promise<void>;

/** The whole response of a route. */
export interface RouteReply {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: string;
}

/** Methods that a route may answer. HEAD is answered by GET. */
export type RouteMethod = 'GET' | 'POST' | 'DELETE';

/** What is mounted at one path. */
export interface Route {
  readonly answers: Readonly<Partial<Record<RouteMethod, RouteAnswer>>>;
  readonly options: RouteOptions;
}

/** All routes beside the endpoint: by exact path, and by the path above one more segment. */
export interface MountedRoutes {
  readonly exact: ReadonlyMap<string, Route>;
  readonly below: ReadonlyMap<string, Route>;
}
