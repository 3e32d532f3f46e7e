import { allCrds } from './crds.ts';
import { type KubeCluster, startKube } from './kube.ts';

const SERVED_MS = 60_000;

interface Crd {
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } };
}

/** Starts a cluster with the CRDs of all kinds and without the controllers of Kubernetes: only the operator writes. */
export async function kubeOfRun(): Promise<KubeCluster> {
  const cluster = await startKube({ crds: allCrds(), controllers: false });
  const end = Date.now() + SERVED_MS;
  // the first requests for a new kind may be refused for about 2 s
  const { body } = await cluster.request('GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions');
  for (const { spec } of (body as { readonly items: readonly Crd[] }).items) {
    const path = `/apis/${spec.group}/v1beta1/${spec.names.plural}`;
    while ((await cluster.request('GET', path)).status !== 200 && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return cluster;
}
