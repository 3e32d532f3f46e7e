import type { ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { serverNamesOf } from './server-names.ts';
import type { ServerSpec } from './server-objects.ts';

/**
 * URL of the proxy inside the cluster: `status.url`. The path is `/mcp`; it is `/sse` where clients are served HTTP+SSE, because the
 * server speaks it or `proxyMode` asks for it.
 */
export function serverUrl({ namespace, name }: ObjectKey, { transport, proxyMode, proxyPort }: ServerSpec): string {
  const speaks = transport === 'stdio' ? proxyMode : transport;
  const { service } = serverNamesOf(name);
  return `http://${service}.${namespace}.svc.cluster.local:${proxyPort}${speaks === 'sse' ? '/sse' : '/mcp'}`;
}
