import {
  type Api,
  createApi,
  type KubeObject,
  keyOf,
  type ResourceType,
  type WatchEnd,
} from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Controller, InformerSpec } from '../../../../hosts/operator/machinery/controller.ts';
import { createControllerSet } from '../../../../hosts/operator/machinery/controller-set.ts';
import { createEventRecorder, events } from '../../../../hosts/operator/machinery/event-recorder.ts';
import { freezingProxy } from '../../../support/freezing-proxy.ts';
import { type KubeCluster, missingKube, startKube } from '../../../support/kube.ts';
import { apiOf, connectionTo } from '../../../support/kube-api.ts';
import { until } from '../../../support/until.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const maps: ResourceType<ConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };
const secrets: ResourceType = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };
const namespaces: ResourceType = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', isClusterScoped: true };
const roleBindings: ResourceType = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  isClusterScoped: true,
};
const WAIT_MS = 30_000;
const COPY = '-copy';
const missing = missingKube();

const configMap = (namespace: string, name: string, data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name, labels: { test: 'yes' } },
  data,
});

/** Keeps a copy of each config map. `data.secret` names a secret whose version the copy has. */
const copies: Controller<ConfigMap> = {
  name: 'copies',
  type: maps,
  watches: [
    {
      type: maps,
      keysOf: ({ metadata: { namespace = '', name } }) =>
        name.endsWith(COPY) ? [{ namespace, name: name.slice(0, -COPY.length) }] : [],
    },
    { type: secrets, keysOf: (secret, caches) => caches.of(maps).byIndex('secret', secret.metadata.name).map(keyOf) },
  ],
  async reconcile(key, { api, caches, events: recorder }) {
    if (key.name.endsWith(COPY)) return;
    const [source, copy] = [caches.of(maps).get(key), caches.of(maps).get({ ...key, name: key.name + COPY })];
    if (source?.data?.fails === 'yes') throw new Error('told to fail');
    if (source === undefined) return copy === undefined ? undefined : api.remove(maps, keyOf(copy));
    const secret = caches.of(secrets).get({ ...key, name: source.data?.secret ?? '-' });
    const version: Record<string, string> =
      secret === undefined ? {} : { version: secret.metadata.resourceVersion ?? '' };
    const wanted = configMap(key.namespace, key.name + COPY, { ...source.data, ...version });
    if (copy !== undefined && JSON.stringify(copy.data ?? {}) === JSON.stringify(wanted.data)) return;
    await api.apply(maps, wanted, { manager: 'copies', force: true });
    const transition = JSON.stringify(wanted.data);
    recorder.emit(source, { type: 'Normal', reason: 'Copied', message: 'copied', action: 'Copy', transition });
  },
};

const informers: readonly InformerSpec[] = [
  {
    type: maps,
    labelSelector: 'test=yes',
    indexes: {
      secret: (map) => ((map as ConfigMap).data?.secret === undefined ? [] : [(map as ConfigMap).data?.secret ?? '']),
    },
  },
  { type: secrets, metadataOnly: true },
];

describe.skipIf(missing !== undefined)(
  `controllers on a real API server ${missing ? `(skipped: ${missing})` : ''}`,
  () => {
    let cluster: KubeCluster;
    let api: Api & AsyncDisposable;
    beforeAll(async () => {
      cluster = await startKube({ controllers: false });
      api = apiOf(cluster);
    });
    afterAll(async () => {
      await api?.[Symbol.asyncDispose]();
      await cluster?.[Symbol.asyncDispose]();
    });

    const newNamespace = async (name: string): Promise<string> => {
      await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      return name;
    };
    const dataOf = async (namespace: string, name: string) => {
      const map = await api.get(maps, { namespace, name });
      return map && (map.data ?? {});
    };
    const write = (namespace: string, name: string, data: Record<string, string>) =>
      api.apply(maps, configMap(namespace, name, data), { manager: 'test', force: true });

    interface Running extends AsyncDisposable {
      readonly set: ReturnType<typeof createControllerSet>;
      readonly restarts: readonly WatchEnd[];
      /** Requests that write. */
      readonly writes: readonly string[];
      readonly log: readonly string[];
    }
    const start = async (
      watched: readonly string[],
      { port, silenceMs, token }: { port?: number; silenceMs?: number; token?: string } = {},
    ): Promise<Running> => {
      const restarts: WatchEnd[] = [];
      const writes: string[] = [];
      const log: string[] = [];
      const connection = connectionTo(cluster, token);
      const own = createApi(
        { ...connection, server: port === undefined ? connection.server : `https://127.0.0.1:${port}` },
        {
          ...(silenceMs === undefined ? {} : { silenceMs, timeoutMs: silenceMs }),
          observe: ({ method, status }) => void (method === 'GET' || writes.push(`${method} ${status}`)),
        },
      );
      const note = (message: string, fields?: object) => void log.push(`${message} ${JSON.stringify(fields)}`);
      const logger = { info: note, warn: note, error: note };
      const recorder = createEventRecorder({ api: own, controller: 'test/copies', instance: 'pod-1', log: logger });
      const set = createControllerSet({
        ...{
          api: own,
          controllers: [copies],
          informers,
          namespaces: watched,
          concurrency: 4,
          events: recorder,
          log: logger,
        },
        observe: { reconciled() {}, requeued() {}, watchRestarted: (_, reason) => void restarts.push(reason) },
      });
      const stop = new AbortController();
      const following = set.follow(stop.signal);
      void set.synced.then(() => set.start());
      return {
        ...{ set, restarts, writes, log },
        async [Symbol.asyncDispose]() {
          await set.stop(5_000);
          await recorder.flush();
          stop.abort();
          await following;
          await own[Symbol.asyncDispose]();
        },
      };
    };

    test('reach the wanted state, correct changes by hand, and write nothing when nothing changed', async () => {
      const namespace = await newNamespace('converge');
      for (let at = 0; at < 10; at++) await write(namespace, `m${at}`, { at: `${at}` });
      await using first = await start([namespace]);
      await until(async () => (await dataOf(namespace, `m9${COPY}`)) !== undefined, WAIT_MS);
      await write(namespace, 'm0', { at: 'changed' });
      await until(async () => (await dataOf(namespace, `m0${COPY}`))?.at === 'changed', WAIT_MS);
      await api.patch(maps, { namespace, name: `m1${COPY}` }, { data: { at: 'by hand' } });
      await until(async () => (await dataOf(namespace, `m1${COPY}`))?.at === '1', WAIT_MS);
      await api.remove(maps, { namespace, name: `m2${COPY}` });
      await until(async () => (await dataOf(namespace, `m2${COPY}`)) !== undefined, WAIT_MS);
      await api.remove(maps, { namespace, name: 'm3' });
      await until(async () => (await dataOf(namespace, `m3${COPY}`)) === undefined, WAIT_MS);
      await first[Symbol.asyncDispose]();
      await using second = await start([namespace]);
      await second.set.synced;
      await until(() => second.set.queues.every(({ queue }) => queue.isIdle), WAIT_MS);
      expect(second.writes).toEqual([]);
      expect(JSON.stringify(second.set.caches.of(maps).list(namespace))).not.toContain('managedFields');
      const reported = await api.list(events, { namespace });
      expect(reported.items).toHaveLength(11); // a repeated transition is not reported again
      expect(reported.items[0]).toMatchObject({ reportingController: 'test/copies', note: 'copied', type: 'Normal' });
    });

    test('follow metadata of secrets by an index, and never see their contents', async () => {
      const namespace = await newNamespace('metadata');
      await write(namespace, 'm', { secret: 's' });
      await using running = await start([namespace]);
      await until(async () => (await dataOf(namespace, `m${COPY}`)) !== undefined, WAIT_MS);
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace, name: 's' },
        data: { a: 'aGlkZGVu' },
      };
      const { metadata } = await api.create(secrets, secret);
      await until(async () => (await dataOf(namespace, `m${COPY}`))?.version === metadata.resourceVersion, WAIT_MS);
      expect(running.set.caches.of(secrets).list(namespace)).toHaveLength(1);
      expect(JSON.stringify(running.set.caches.of(secrets).list())).not.toContain('aGlkZGVu');
      expect(running.set.caches.of(secrets).list()[0]).not.toHaveProperty('data');
      expect(() => running.set.caches.of(secrets).byIndex('absent', 'a')).toThrow("has no index 'absent'");
      await write(namespace, 'm', {});
      await until(() => running.set.caches.of(maps).byIndex('secret', 's').length === 0, WAIT_MS);
    });

    test('follow only the given namespaces', async () => {
      const [one, two, other] = [await newNamespace('one'), await newNamespace('two'), await newNamespace('other')];
      for (const namespace of [one, two, other]) await write(namespace, 'm', {});
      await using running = await start([one, two]);
      await until(async () => (await dataOf(one, `m${COPY}`)) !== undefined, WAIT_MS);
      await until(async () => (await dataOf(two, `m${COPY}`)) !== undefined, WAIT_MS);
      await until(() => running.set.queues.every(({ queue }) => queue.isIdle), WAIT_MS);
      expect(await dataOf(other, `m${COPY}`)).toBeUndefined();
      expect(running.set.caches.of(maps).list(other)).toEqual([]);
    });

    test('continue when the API server was killed and is back', async () => {
      const namespace = await newNamespace('killed');
      await using running = await start([namespace]);
      await running.set.synced;
      await cluster.killApiServer();
      await until(() => running.restarts.includes('failed'), WAIT_MS);
      await cluster.startApiServer();
      await write(namespace, 'm', { a: '1' });
      await until(async () => (await dataOf(namespace, `m${COPY}`)) !== undefined, 60_000);
    });

    test('read the list again when the history is gone, and notice what was deleted meanwhile', async () => {
      const namespace = await newNamespace('compacted');
      await using proxy = await freezingProxy(Number(new URL(cluster.server).port));
      await write(namespace, 'gone', { a: '1' });
      await using running = await start([namespace], { port: proxy.port });
      await until(async () => (await dataOf(namespace, `gone${COPY}`)) !== undefined, WAIT_MS);
      proxy.block();
      await api.remove(maps, { namespace, name: 'gone' });
      await write(namespace, 'new', { a: '1' });
      await cluster.killApiServer();
      await cluster.startApiServer();
      await cluster.compact();
      proxy.open();
      await until(async () => (await dataOf(namespace, `new${COPY}`)) !== undefined, 60_000);
      await until(async () => (await dataOf(namespace, `gone${COPY}`)) === undefined, 60_000);
      // 'failed' when the server was away for so long that the list was read again without the 410
      expect(running.restarts.some((reason) => reason !== 'ended')).toBe(true);
    }, 180_000);

    test('notice a watch whose connection is dead', async () => {
      const namespace = await newNamespace('dead');
      await using proxy = await freezingProxy(Number(new URL(cluster.server).port));
      await using running = await start([namespace], { port: proxy.port, silenceMs: 2_000 });
      await running.set.synced;
      await write(namespace, 'first', { a: '1' }); // by the watch, so it has begun
      await until(async () => (await dataOf(namespace, `first${COPY}`)) !== undefined, WAIT_MS);
      proxy.freeze();
      await write(namespace, 'm', { a: '1' });
      await until(async () => (await dataOf(namespace, `m${COPY}`)) !== undefined, 2 * WAIT_MS);
      expect(running.restarts).toContain('failed');
    });

    test('say which right is missing, and continue when it is granted', async () => {
      const namespace = await newNamespace('rights');
      const account = { namespace, name: 'operator' };
      const serviceAccounts = { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' };
      await api.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/operator/token`;
      const { body } = await cluster.request('POST', path, { spec: {} });
      await using running = await start([namespace], { token: (body as { status: { token: string } }).status.token });
      await until(() => running.set.informers.every(({ failure }) => failure !== undefined), WAIT_MS);
      expect(running.log.join('\n')).toContain(`cannot list ConfigMap: configmaps is forbidden`);
      expect(running.log.filter((line) => line.includes('cannot be followed'))).toHaveLength(2);
      await api.create(roleBindings, {
        ...{ apiVersion: roleBindings.apiVersion, kind: roleBindings.kind, metadata: { name: 'operator-is-admin' } },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', ...account }],
      } as KubeObject);
      await write(namespace, 'm', {});
      await until(async () => (await dataOf(namespace, `m${COPY}`)) !== undefined, WAIT_MS);
      expect(running.log.join('\n')).toContain('objects are followed again');
    });

    test('an object whose reconcile fails does not delay others', async () => {
      const namespace = await newNamespace('failing');
      for (let at = 0; at < 20; at++) await write(namespace, `bad${at}`, { fails: 'yes' });
      await write(namespace, 'good', {});
      await using running = await start([namespace]);
      await until(async () => (await dataOf(namespace, `good${COPY}`)) !== undefined, WAIT_MS);
      expect(running.log.join('\n')).toContain('told to fail');
      await write(namespace, 'bad7', {});
      await until(async () => (await dataOf(namespace, `bad7${COPY}`)) !== undefined, WAIT_MS);
    });

    test('a reconcile that never ends is left behind, and its worker continues with other objects', async () => {
      const namespace = await newNamespace('stuck');
      const seen: string[] = [];
      const log: string[] = [];
      const note = (message: string, fields?: object) => void log.push(`${message} ${JSON.stringify(fields)}`);
      const set = createControllerSet({
        api,
        controllers: [
          {
            ...{ name: 'stuck', type: maps, watches: [] },
            reconcile: ({ name }) => {
              seen.push(name);
              return name === 'endless' ? new Promise<void>(() => {}) : Promise.resolve();
            },
          },
        ],
        ...{ informers, namespaces: [namespace], concurrency: 1, reconcileMs: 100 },
        events: { emit() {} },
        log: { info: note, warn: note, error: note },
      });
      const stop = new AbortController();
      const following = set.follow(stop.signal);
      try {
        await write(namespace, 'endless', {});
        await set.synced;
        set.start();
        await until(() => seen.includes('endless'), WAIT_MS);
        await write(namespace, 'good', {});
        await until(() => seen.includes('good'), WAIT_MS);
        expect(log.join()).toContain('the reconcile did not end');
      } finally {
        await set.stop(0);
        stop.abort();
        await following;
      }
    });
  },
);
