import type { Inbound, Responder } from './inbound.ts';

/** Extra HTTP routes that a plugin mounts beside the endpoint (`mount` hook). Exact paths, no patterns. */
export interface RouteTable {
  /** Path of the MCP endpoint, e.g. `/mcp`; some well-known paths are derived from it. */
  readonly endpointPath: string;
  /** @throws GatewayFault ROUTE_TAKEN when method and path are taken */
  add(method: RouteMethod, path: string, answer: RouteAnswer): void;
}

/** Answers one request of an extra route. */
export type RouteAnswer = (inbound: Inbound, body: Buffer, responder: Responder) => void | Promise<void>;

/** Methods that a route may answer. HEAD is answered by GET. */
export type RouteMethod = 'GET' | 'POST' | 'DELETE';

/** What is mounted at one path. */
export type Route = Readonly<Partial<Record<RouteMethod, RouteAnswer>>>;

/** All routes beside the endpoint, by exact path. */
export type MountedRoutes = ReadonlyMap<string, Route>;
