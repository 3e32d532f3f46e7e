import { mcpRemoteProxy } from '../../kinds/mcp-remote-proxy.ts';
import type { OperatorSettings } from '../../settings.ts';
import { createProxyController } from '../proxy/proxy-controller.ts';
import { PROXY_INFORMERS } from '../proxy/proxy-watches.ts';
import { buildRemoteProxy, remoteConditions, remoteNamesOf, remoteProxyUrl } from './build-remote-proxy.ts';

/** What is special to MCPRemoteProxies. */
export const remoteProxyDefinition = {
  kind: { ...mcpRemoteProxy, kind: 'MCPRemoteProxy' },
  deploymentOf: (name: string) => remoteNamesOf(name).deployment,
  urlOf: remoteProxyUrl,
  build: buildRemoteProxy,
  conditionsOf: remoteConditions,
  hasServer: false,
} as const;

/** The controller of MCPRemoteProxies. */
export function remoteProxyPart({ image, imagePullSecrets, isOpenShift }: OperatorSettings) {
  const controller = createProxyController(remoteProxyDefinition, {
    image,
    isOpenShift,
    defaults: { imagePullSecrets },
  });
  return { controllers: [controller], informers: PROXY_INFORMERS };
}
