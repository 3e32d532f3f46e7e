import { randomBytes } from 'node:crypto';
import { type KubeAddress, type KubeClient, kubeClient } from './kube-client.ts';
import { sharedServer } from './shared-server.ts';

/**
 * The API server that the files of a run share, with the CRDs of all kinds and without the controllers of Kubernetes. A test has a
 * namespace of its own there, and leaves alone what has none.
 */
export async function sharedKube(): Promise<KubeClient> {
  return kubeClient(await sharedServer<KubeAddress>('kube'));
}

/** Creates a namespace that no other test has. */
export async function newNamespace({ createNamespace }: KubeClient): Promise<string> {
  const name = `space-${randomBytes(4).toString('hex')}`;
  await createNamespace(name);
  return name;
}
