import type { ObjectKey, Resource, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { referencesIndex } from '../../hosts/operator/controllers/references.ts';
import { KINDS } from '../../hosts/operator/kinds/index.ts';
import { typeOfKind } from '../../hosts/operator/kinds/kind.ts';
import { createControllerSet } from '../../hosts/operator/machinery/controller-set.ts';
import { createEventRecorder } from '../../hosts/operator/machinery/event-recorder.ts';
import type { OperatorPart } from '../../hosts/operator/parts.ts';
import type { KubeCluster } from './kube.ts';
import { apiOf } from './kube-api.ts';

/** Controllers that run against a cluster. */
export interface RunningControllers extends AsyncDisposable {
  /** Requests that write, as `METHOD`. */
  readonly writes: string[];
  /** What was logged. */
  readonly lines: string[];
}

/** Runs parts of the operator without leader election. */
export async function runControllers(
  cluster: KubeCluster,
  parts: readonly OperatorPart[],
): Promise<RunningControllers> {
  const writes: string[] = [];
  const lines: string[] = [];
  const api = apiOf(cluster, {
    observe: ({ method }) => {
      if (method !== 'GET') writes.push(method);
    },
  });
  const write = (level: string) => (message: string, fields?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  const log = { info: write('info'), warn: write('warn'), error: write('error') };
  const events = createEventRecorder({ api, log, controller: 'toolmgr.dev/operator', instance: 'test' });
  const set = createControllerSet({
    api,
    controllers: parts.flatMap(({ controllers }) => controllers),
    informers: [
      ...KINDS.map((kind) => ({ type: typeOfKind(kind), indexes: referencesIndex(kind.kind) })),
      ...parts.flatMap(({ informers = [] }) => informers),
    ],
    namespaces: [],
    concurrency: 4,
    events,
    log,
  });
  const over = new AbortController();
  const following = set.follow(over.signal);
  await set.synced;
  set.start();
  return {
    writes,
    lines,
    async [Symbol.asyncDispose]() {
      await set.stop(5_000);
      over.abort();
      await following;
      await api[Symbol.asyncDispose]();
    },
  };
}

/** An object of the API as JSON. @throws Error when it is not there */
export async function read<T extends Resource>(
  cluster: KubeCluster,
  type: ResourceType<T>,
  key: ObjectKey,
): Promise<T> {
  await using api = apiOf(cluster);
  const found = await api.get(type, key);
  if (found === undefined) throw new Error(`there is no ${type.kind} ${key.namespace}/${key.name}`);
  return found;
}
