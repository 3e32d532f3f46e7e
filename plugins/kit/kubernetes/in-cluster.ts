import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainCause } from '@toolmgr/core';
import type { Connection, Credentials, TlsSettings } from './connection.ts';

/** Where a pod finds the API server. The defaults are those of Kubernetes; tests set others. */
export interface InClusterPlaces {
  readonly env: NodeJS.ProcessEnv;
  /** Folder with `token`, `ca.crt` and `namespace`. */
  readonly folder?: string;
  readonly now?: () => number;
}

/** Folder of the mounted service account. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The kubelet replaces the token after 80 % of its life, at least 10 minutes: a file is read again after this time. */
const READ_AGAIN_MS = 30_000;

/** Whether this process has the environment of a pod. */
export function isInCluster(env: NodeJS.ProcessEnv): boolean {
  return (env.KUBERNETES_SERVICE_HOST ?? '') !== '';
}

/**
 * The connection of a pod with a service account: address from the environment, token and CA from files that are read again.
 * @throws Error that names the missing variable or file
 */
export async function inClusterConnection(places: InClusterPlaces): Promise<Connection> {
  const { env, folder = SERVICE_ACCOUNT_FOLDER, now = Date.now } = places;
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  const port = env.KUBERNETES_SERVICE_PORT ?? '443';
  if (host === '') throw new Error('KUBERNETES_SERVICE_HOST is not set, so this process is not in a cluster');
  const text = (name: string): Promise<string> => readText(join(folder, name));
  const read = async (before?: TlsSettings): Promise<Credentials> => {
    const [token, ca] = await Promise.all([text('token'), text('ca.crt')]);
    return { authorization: `Bearer ${token}`, tls: before?.ca === ca ? before : { ca } };
  };
  let last = await read();
  let readAt = now();
  const namespace = await text('namespace').catch(() => undefined);
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ...(namespace === undefined ? {} : { namespace }),
    async credentials(refused = false) {
      if (!refused && now() - readAt < READ_AGAIN_MS) return last;
      readAt = now();
      last = await read(last.tls).catch(() => last); // the files are replaced: the next read finds them
      return last;
    },
  };
}

async function readText(path: string): Promise<string> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new Error(`${path} cannot be read, so the service account is not mounted: ${explainCause(cause)}`, { cause });
  }
  if (text === '') throw new Error(`${path} is empty`);
  return text;
}
