import type { MountedRoutes, Route } from '../contract/route.ts';
import { GatewayFault } from '../errors.ts';
import type { Hooks } from '../extension/hooks.ts';

/**
 * Route handlers by path, then by method. `served`: other paths of the endpoint, with what they are.
 * @throws GatewayFault ROUTE_TAKEN
 */
export function mountedRoutes(
  hooks: Hooks,
  endpointPath: string,
  served: ReadonlyMap<string, string> = new Map(),
): MountedRoutes {
  const routes = new Map<string, Route>();
  hooks.mount.call({
    endpointPath,
    add(method, path, answer) {
      const taken = served.get(path);
      if (taken !== undefined) throw new GatewayFault('ROUTE_TAKEN', `${path} is ${taken} of the endpoint`);
      const route = routes.get(path) ?? {};
      if (route[method] !== undefined) throw new GatewayFault('ROUTE_TAKEN', `${method} ${path} is mounted twice`);
      routes.set(path, { ...route, [method]: answer });
    },
  });
  return routes;
}
