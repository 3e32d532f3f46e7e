import { type GatewayPage, gatewayPageRoutes } from './gateway-page.ts';
import type { HostRoute } from './mount.ts';
import { type PageAccess, pageAccess } from './page-access.ts';
import { plainStartRoute } from './start-text.ts';

/** What {@link defaultPageRoutes} needs to know. */
export interface DefaultPage extends Pick<GatewayPage, 'gateway' | 'mcpPath' | 'authTypeOf'> {
  /** Everyone who can reach the listener may read the page: loopback without authentication. Evaluated for each request. */
  isOpen(): boolean;
}

/**
 * The page at `/` that a host serves without being told to: the whole page, without calls, while it is open; otherwise only what this
 * address is. No route when the endpoint itself is at `/`. Pages of other sites cannot read it: their Origin is refused.
 */
export function defaultPageRoutes({ gateway, mcpPath, authTypeOf, isOpen }: DefaultPage): readonly HostRoute[] {
  if (mcpPath === '/') return [];
  const access = (): PageAccess => (isOpen() ? OPEN : 'elsewhere');
  const plain = plainStartRoute(mcpPath);
  return gatewayPageRoutes({ gateway, mcpPath, authTypeOf, access }).map((route) =>
    route.path === '/'
      ? { path: '/', answer: (query, request) => (isOpen() ? route : plain).answer(query, request) }
      : route,
  );
}

const OPEN: PageAccess = pageAccess(undefined);
