import { readFileSync } from 'node:fs';
import { type ApiSettings, type ClosableApi, type Connection, createApi } from '@toolmgr/plugins/kit/kubernetes';
import type { KubeClient } from './kube-client.ts';

/** The connection of an administrator. `token`: of another user. */
export function connectionTo({ server, token, caFile }: KubeClient, as = token): Connection {
  const credentials = { authorization: `Bearer ${as}`, tls: { ca: readFileSync(caFile, 'utf8') } };
  return { server, credentials: async () => credentials };
}

/** A client with all rights. */
export function apiOf(cluster: KubeClient, settings: ApiSettings = {}): ClosableApi {
  return createApi(connectionTo(cluster), settings);
}
