import { isObject } from '@toolmgr/core';
import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';

/** An object without a status with the one that it has once everything runs. */
export function withExpectedStatus(object: KubeObject, namespace: string): KubeObject {
  const { spec, status } = object as { readonly spec?: unknown; readonly status?: unknown };
  const expected = EXPECTED[object.kind];
  if (status !== undefined || expected === undefined) return object;
  return { ...object, status: expected(object.metadata.name, namespace, isObject(spec) ? spec : {}) } as KubeObject;
}

type Expected = (name: string, namespace: string, spec: Readonly<Record<string, unknown>>) => object;

const EXPECTED: Readonly<Record<string, Expected>> = {
  MCPGroup: () => ({ phase: 'Ready' }),
  EmbeddingServer: (name, namespace, { port = 8080 }) => ({
    phase: 'Ready',
    url: `http://${name}.${namespace}.svc.cluster.local:${String(port)}`,
  }),
  MCPServer: (name, namespace, { transport = 'stdio', proxyMode = 'streamable-http', proxyPort = 8080 }) => ({
    phase: 'Ready',
    url: `http://mcp-${name}-proxy.${namespace}.svc.cluster.local:${String(proxyPort)}${pathOf(transport === 'stdio' ? proxyMode : transport)}`,
  }),
  MCPRemoteProxy: (name, namespace, { transport = 'streamable-http', proxyPort = 8080 }) => ({
    phase: 'Ready',
    url: `http://mcp-${name}-remote-proxy.${namespace}.svc.cluster.local:${String(proxyPort)}${pathOf(transport)}`,
  }),
};

function pathOf(transport: unknown): string {
  return transport === 'sse' ? '/sse' : '/mcp';
}
