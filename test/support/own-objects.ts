import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { API_GROUP, API_VERSION } from '../../hosts/operator/kinds/kind.ts';

/** The smallest spec of each kind that the API server accepts. */
export const SMALLEST: Readonly<Record<string, object>> = {
  VirtualMCPServer: { groupRef: { name: 'any' }, incomingAuth: { type: 'anonymous' } },
  MCPGroup: {},
  MCPServer: { image: 'example.com/server' },
  MCPServerEntry: {
    remoteUrl: 'https://mcp.example.com/mcp',
    transport: 'streamable-http',
    groupRef: { name: 'any' },
  },
  MCPRemoteProxy: { remoteUrl: 'https://mcp.example.com/mcp' },
  MCPOIDCConfig: { type: 'inline', inline: { issuer: 'https://issuer.example.com' } },
  MCPAuthzConfig: { type: 'cedarv1', config: { policies: ['permit(principal, action, resource);'] } },
  MCPExternalAuthConfig: { type: 'unauthenticated' },
  MCPTelemetryConfig: {
    openTelemetry: { enabled: true, endpoint: 'https://otel.example.com:4318', tracing: { enabled: true } },
  },
  MCPToolConfig: { toolsFilter: ['search'] },
  VirtualMCPCompositeToolDefinition: { name: 'flow', steps: [{ id: 'a', tool: 'x.y' }] },
  EmbeddingServer: {},
};

/** An object of an own kind; `spec` replaces members of the smallest one. */
export function own(kind: string, namespace: string, name: string, spec: object = {}): KubeObject {
  return {
    apiVersion: `${API_GROUP}/${API_VERSION}`,
    kind,
    metadata: { namespace, name },
    spec: { ...SMALLEST[kind], ...spec },
  } as KubeObject;
}
