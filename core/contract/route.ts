import type { Inbound, Responder } from './inbound.ts';

/** Extra HTTP routes that a plugin mounts beside the endpoint (`mount` hook). Exact paths, no patterns. */
export interface RouteTable {
  /** Path of the MCP endpoint, e.g. `/mcp`; some well-known paths are derived from it. */
  readonly endpointPath: string;
  /** @throws GatewayFault ROUTE_TAKEN when method and path are taken */
  add(method: 'GET' | 'POST' | 'DELETE', path: string, answer: RouteAnswer): void;
}

/** Answers one request of an extra route. */
export type RouteAnswer = (inbound: Inbound, body: Buffer, responder: Responder) => void | Promise<void>;
