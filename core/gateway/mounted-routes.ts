import type { MountedRoutes, Route } from '../contract/route.ts';
import { GatewayFault } from '../errors.ts';
import type { Hooks } from '../extension/hooks.ts';

/** Route handlers by path, then by method. @throws GatewayFault ROUTE_TAKEN */
export function mountedRoutes(hooks: Hooks, endpointPath: string, directPath?: string): MountedRoutes {
  const routes = new Map<string, Route>();
  hooks.mount.call({
    endpointPath,
    add(method, path, answer) {
      if (path === directPath) throw new GatewayFault('ROUTE_TAKEN', `${path} is the direct path of the endpoint`);
      const route = routes.get(path) ?? {};
      if (route[method] !== undefined) throw new GatewayFault('ROUTE_TAKEN', `${method} ${path} is mounted twice`);
      routes.set(path, { ...route, [method]: answer });
    },
  });
  return routes;
}
