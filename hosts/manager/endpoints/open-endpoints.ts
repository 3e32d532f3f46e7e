import type { Log } from '@toolmgr/core';
import { type CallReader, createCallFeed } from '../../http/recent-calls/feed.ts';
import type { GatewayMemory } from '../gateway-memory.ts';
import type { RawRoute } from '../http/create-app.ts';
import type { EndpointAddress } from './endpoint-address.ts';
import { createEndpoints, type Endpoints } from './endpoints.ts';
import { workloadCalls } from './workload-calls.ts';

/** The MCP endpoints of a manager and the calls through them and through the workloads. */
export interface OpenEndpoints extends AsyncDisposable {
  readonly endpoints: Endpoints;
  readonly calls: CallReader;
  readonly routes: readonly RawRoute[];
}

/**
 * Makes the endpoints; nothing runs before the first request.
 *
 * On a loopback address they need no token, as the endpoints of the workloads themselves; Host and Origin are checked.
 */
export function openEndpoints(options: {
  readonly stateDir: string;
  readonly log: Log;
  readonly address: EndpointAddress;
  readonly memory: GatewayMemory;
  readonly needsNoToken: boolean;
}): OpenEndpoints {
  const feed = createCallFeed();
  const endpoints = createEndpoints({ ...options, feed });
  return {
    endpoints,
    calls: workloadCalls(options.stateDir, feed),
    routes: ['/mcp/groups/:name', '/mcp/workloads/:name'].map((path) => ({
      path,
      open: options.needsNoToken,
      handle: (request, response) => void endpoints.handle(request, response),
    })),
    [Symbol.asyncDispose]: () => endpoints[Symbol.asyncDispose](),
  };
}
