import type { Gateway } from '@toolmgr/core';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { defaultPageRoutes } from '../../http/default-page.ts';
import { isLoopbackHost } from '../../http/listen.ts';
import type { HostRoute } from '../../http/mount.ts';

/**
 * The page at `/` of the endpoint of a workload. Its state and tools are shown on loopback when everyone may call everything;
 * otherwise the page only says what the address is.
 */
export function pageRoutes(gateway: Gateway, config: RunConfig): readonly HostRoute[] {
  const isOpen = isLoopbackHost(config.host) && isForEveryone(config);
  return defaultPageRoutes({ gateway: () => gateway, mcpPath: '/mcp', isOpen: () => isOpen });
}

/** A plugin of the configuration may authenticate callers. */
function isForEveryone({ oidc_config, authz_config, embedded_auth_server_config, plugins = [] }: RunConfig): boolean {
  const restrictions = [oidc_config, authz_config, embedded_auth_server_config, plugins[0]];
  return restrictions.every((one) => one === undefined);
}
