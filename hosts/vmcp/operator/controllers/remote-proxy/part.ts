import { mcpRemoteProxy } from '../../kinds/mcp-remote-proxy.ts';
import type { OperatorSettings } from '../../settings.ts';
import { createProxyController } from '../proxy/proxy-controller.ts';
import { PROXY_INFORMERS } from '../proxy/proxy-watches.ts';
import { buildRemoteProxy, remoteConditions, remoteNamesOf, remoteProxyUrl } from './build-remote-proxy.ts';

/** The controller of MCPRemoteProxies. */
export function remoteProxyPart({ image, imagePullSecrets, isOpenShift }: OperatorSettings) {
  const controller = createProxyController(
    {
      kind: { ...mcpRemoteProxy, kind: 'MCPRemoteProxy' },
      deploymentOf: (name) => remoteNamesOf(name).deployment,
      urlOf: remoteProxyUrl,
      build: buildRemoteProxy,
      conditionsOf: remoteConditions,
      hasServer: false,
    },
    { image, isOpenShift, defaults: { imagePullSecrets } },
  );
  return { controllers: [controller], informers: PROXY_INFORMERS };
}
