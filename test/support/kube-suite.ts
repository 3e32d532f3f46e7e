import type { Api } from '@toolmgr/plugins/kubernetes';
import { afterAll, beforeAll } from 'vitest';
import { allCrds } from './crds.ts';
import { type KubeCluster, missingKube, startKube } from './kube.ts';
import { apiOf } from './kube-api.ts';

/** The cluster of one test file. */
export interface KubeSuite {
  /** Usable in tests, not while they are declared. */
  readonly api: Api;
  /** One request as an administrator. */
  readonly request: KubeCluster['request'];
  /** Creates a namespace that no other test has. */
  namespace(): Promise<string>;
}

const START_MS = 180_000;

/** Why tests with a cluster are skipped, for their title; empty where they run. */
export const kubeSkipped = ((missing) => (missing === undefined ? '' : `, skipped: ${missing}`))(missingKube());

/**
 * A cluster with the CRDs of all kinds and without the controllers of Kubernetes: only the operator writes. To be called in
 * `describe`; it starts before the tests and stops after them.
 */
export function kubeSuite(): KubeSuite {
  let cluster: KubeCluster | undefined;
  let api: ReturnType<typeof apiOf> | undefined;
  let spaces = 0;
  const started = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('the cluster is used before it is started');
    return part;
  };
  beforeAll(async () => {
    cluster = await startKube({ crds: allCrds(), controllers: false });
    api = apiOf(cluster);
  }, START_MS);
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });
  return {
    // the client exists only when the cluster has started
    api: new Proxy({} as Api, { get: (_, member) => Reflect.get(started(api), member) }),
    request: (...args) => started(cluster).request(...args),
    async namespace() {
      const name = `space-${++spaces}`;
      await started(cluster).createNamespace(name);
      return name;
    },
  };
}
