import type { MountedRoutes, Route, RouteTable } from '../contract/route.ts';
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
  const exact = new Map<string, Route>();
  const below = new Map<string, Route>();
  const addTo =
    (routes: Map<string, Route>): RouteTable['add'] =>
    (method, path, answer, options = {}) => {
      const route = routes.get(path) ?? { answers: {}, options };
      if (route.answers[method] !== undefined) {
        throw new GatewayFault('ROUTE_TAKEN', `${method} ${path} is mounted twice`);
      }
      routes.set(path, { ...route, answers: { ...route.answers, [method]: answer } });
    };
  const addExact = addTo(exact);
  hooks.mount.call({
    endpointPath,
    add(method, path, answer, options) {
      const taken = served.get(path);
      if (taken !== undefined) throw new GatewayFault('ROUTE_TAKEN', `${path} is ${taken} of the endpoint`);
      addExact(method, path, answer, options);
    },
    addBelow: addTo(below),
  });
  return { exact, below };
}
