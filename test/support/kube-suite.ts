import type { Api } from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll } from 'vitest';
import { missingKube } from './kube.ts';
import { apiOf } from './kube-api.ts';
import type { KubeClient } from './kube-client.ts';
import { newNamespace, sharedKube } from './shared-kube.ts';

/** The cluster that the test files share. */
export interface KubeSuite {
  /** Usable in tests, not while they are declared. */
  readonly api: Api;
  /** Usable in tests, like `api`. */
  readonly cluster: KubeClient;
  /** One request as an administrator. */
  readonly request: KubeClient['request'];
  /** Creates a namespace that no other test has. */
  namespace(): Promise<string>;
}

const START_MS = 180_000;

/** Why tests with a cluster are skipped, for their title; empty where they run. */
export const kubeSkipped = ((missing) => (missing === undefined ? '' : `, skipped: ${missing}`))(missingKube());

/** The shared cluster, for a `describe` block. */
export function kubeSuite(): KubeSuite {
  let cluster: KubeClient | undefined;
  let api: ReturnType<typeof apiOf> | undefined;
  const started = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('the cluster is used before it is started');
    return part;
  };
  beforeAll(async () => {
    cluster = await sharedKube();
    api = apiOf(cluster);
  }, START_MS);
  afterAll(() => api?.[Symbol.asyncDispose]());
  return {
    // the client exists only when the cluster has started
    api: new Proxy({} as Api, { get: (_, member) => Reflect.get(started(api), member) }),
    get cluster() {
      return started(cluster);
    },
    request: (...args) => started(cluster).request(...args),
    namespace: () => newNamespace(started(cluster)),
  };
}
