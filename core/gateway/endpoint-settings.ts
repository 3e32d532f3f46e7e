import type { Era } from '../contract/era.ts';
import { GatewayFault } from '../errors.ts';
import type { EndpointSettings } from '../extension/plugin.ts';
import { ERAS } from '../pipeline/server-info.ts';
import type { Plan } from './plan.ts';

/** What plugins set about the endpoint while they were applied. */
export interface EndpointOptions {
  /** Supported revisions. */
  readonly eras: readonly Era[];
  readonly directPath: string | undefined;
}

/** Collects the endpoint settings of plugins for the given endpoint path. */
export function createEndpointSettings(endpointPath: string): {
  readonly settings: EndpointSettings;
  options(): EndpointOptions;
} {
  let only: Era | undefined;
  let directPath: string | undefined;
  const under = endpointPath.endsWith('/') ? endpointPath : `${endpointPath}/`;
  return {
    settings: {
      serveOnly(era) {
        if (only !== undefined && only !== era) {
          throw new GatewayFault('PLAN_INVALID', `one plugin requires revision ${only} only, another ${era} only`);
        }
        only = era;
      },
      serveDirect(path) {
        // Below the endpoint, so that a token for the endpoint is valid for it too (RFC 8707), and no route of a host
        // collides.
        if (!path.startsWith(under) || path.length === under.length) {
          throw new GatewayFault('PLAN_INVALID', `the direct path must lie below ${under}, got ${path}`);
        }
        if (directPath !== undefined) throw new GatewayFault('PLAN_INVALID', 'two plugins set a direct path');
        directPath = path;
      },
    },
    options: () => ({ eras: only === undefined ? ERAS : [only], directPath }),
  };
}

/**
 * The paths of an endpoint beside its own, with what they are.
 * @throws GatewayFault PLAN_INVALID when two are equal, or no method is left for an event stream
 */
export function endpointPaths(
  { path, sse, postOnly }: Plan['endpoint'],
  directPath: string | undefined,
): ReadonlyMap<string, string> {
  if (sse !== undefined && postOnly === true)
    throw new GatewayFault('PLAN_INVALID', 'endpoint.sse needs GET, which endpoint.postOnly refuses');
  const all: readonly (readonly [string | undefined, string])[] = [
    [path, 'the path of MCP'],
    [directPath, 'the direct path'],
    [sse?.path, 'the path of event streams'],
    [sse?.messagesPath, 'the path of messages'],
  ];
  const paths = new Map<string, string>();
  for (const [each, what] of all) {
    if (each === undefined) continue;
    const other = paths.get(each);
    if (other !== undefined) throw new GatewayFault('PLAN_INVALID', `${each} is both ${other} and ${what}`);
    paths.set(each, what);
  }
  paths.delete(path); // a plugin may mount other methods there
  return paths;
}
