import { mcpServer } from '../../kinds/mcp-server.ts';
import type { OperatorSettings } from '../../settings.ts';
import { createProxyController, type ProxyDefinition } from '../proxy/proxy-controller.ts';
import { PROXY_INFORMERS } from '../proxy/proxy-watches.ts';
import { buildServer } from './build-server.ts';
import { serverNamesOf } from './server-names.ts';
import type { ServerSpec } from './server-objects.ts';
import { serverUrl } from './server-url.ts';

/** What is special to MCPServers. */
export const serverDefinition: ProxyDefinition<ServerSpec> = {
  kind: { ...mcpServer, kind: 'MCPServer' },
  deploymentOf: (name) => serverNamesOf(name).deployment,
  urlOf: serverUrl,
  build: buildServer,
  hasServer: true,
};

/** The controller of MCPServers. */
export function mcpServerPart({ image, imagePullSecrets, isOpenShift }: OperatorSettings) {
  const controller = createProxyController(serverDefinition, { image, isOpenShift, defaults: { imagePullSecrets } });
  return { controllers: [controller], informers: PROXY_INFORMERS };
}
