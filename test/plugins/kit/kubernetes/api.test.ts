import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Api,
  type ApiError,
  createApi,
  inClusterConnection,
  isMissingType,
  type KubeObject,
  type ResourceType,
} from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KubeCluster, missingKube, startKube } from '../../../support/kube.ts';
import { apiOf, connectionTo } from '../../../support/kube-api.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
interface Deployment extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly object[] };
}

const configMaps: ResourceType<ConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };
const secrets: ResourceType<ConfigMap> = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };
const deployments: ResourceType<Deployment> = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' };
const namespaces: ResourceType = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', isClusterScoped: true };
const widgets: ResourceType = { apiVersion: 'toolmgr.dev/v1beta1', kind: 'Widget', plural: 'widgets' };

const configMap = (name: string, data: Record<string, string> = { a: '1' }, namespace = 'default'): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data,
});
const key = (name: string) => ({ namespace: 'default', name });
const missing = missingKube();

describe.skipIf(missing !== undefined)(`the API client ${missing ? `(skipped: ${missing})` : ''}`, () => {
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
  const refusal = (work: Promise<unknown>): Promise<ApiError> =>
    work.then(
      () => expect.fail('was accepted'),
      (cause) => cause as ApiError,
    );

  test('creates, reads, patches, replaces and removes an object', async () => {
    expect(await api.get(configMaps, key('one'))).toBeUndefined();
    const created = await api.create(configMaps, configMap('one'));
    expect(created.metadata.uid).toBeTruthy();
    expect(await refusal(api.create(configMaps, configMap('one')))).toMatchObject({
      status: 409,
      reason: 'AlreadyExists',
      message: 'cannot create ConfigMap default/one: configmaps "one" already exists',
    });
    const patched = await api.patch(configMaps, key('one'), { data: { b: '2', a: null } }, { manager: 'me' });
    expect(patched.data).toEqual({ b: '2' });
    expect(JSON.stringify(patched.metadata)).toContain('"manager":"me"');
    const replaced = await api.replace(configMaps, { ...patched, data: { c: '3' } });
    expect(replaced.data).toEqual({ c: '3' });
    await api.remove(configMaps, key('one'), { uid: '00000000-0000-0000-0000-000000000000' });
    expect(await api.get(configMaps, key('one'))).toMatchObject({ kind: 'ConfigMap', data: { c: '3' } });
    await api.remove(configMaps, key('one'), { uid: created.metadata.uid ?? '' });
    await api.remove(configMaps, key('one'));
    expect(await api.get(configMaps, key('one'))).toBeUndefined();
  });

  test('refuses a stale resource version with 409, in a replacement and in a patch', async () => {
    const old = await api.create(configMaps, configMap('stale'));
    await api.patch(configMaps, key('stale'), { data: { a: '2' } });
    const conflict = { status: 409, reason: 'Conflict' };
    expect(await refusal(api.replace(configMaps, old))).toMatchObject(conflict);
    const patch = { metadata: { resourceVersion: old.metadata.resourceVersion }, data: { a: '3' } };
    expect(await refusal(api.patch(configMaps, key('stale'), patch))).toMatchObject(conflict);
  });

  test('applies its own fields, names the other manager in a conflict, and takes fields over with force', async () => {
    const first = await api.apply(configMaps, configMap('applied', { a: '1', b: '1' }), { manager: 'first' });
    expect(first.data).toEqual({ a: '1', b: '1' });
    const conflict = await refusal(api.apply(configMaps, configMap('applied', { a: '2' }), { manager: 'second' }));
    expect(conflict).toMatchObject({ status: 409, reason: 'Conflict' });
    expect(conflict.message).toContain('"first"');
    const forced = await api.apply(configMaps, configMap('applied', { a: '2' }), { manager: 'second', force: true });
    expect(forced.data).toEqual({ a: '2', b: '1' });
    const dropped = await api.apply(configMaps, configMap('applied', {}), { manager: 'first' });
    expect(dropped.data).toEqual({ a: '2' });
  });

  test('writes the status apart from the spec', async () => {
    const labels = { app: 'd' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const wanted = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: key('d'),
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    };
    const { metadata } = await api.apply(deployments, wanted, { manager: 'me' });
    const status = { observedGeneration: 1 };
    const patched = await api.patch(
      deployments,
      key('d'),
      { status, spec: { replicas: 7 } },
      { subresource: 'status' },
    );
    expect(patched).toMatchObject({ spec: { replicas: 1 }, status, metadata: { generation: metadata.generation } });
    const replaced = await api.replace(deployments, { ...patched, status: { observedGeneration: 2 } }, 'status');
    expect(replaced.status?.observedGeneration).toBe(2);
    const { apiVersion, kind } = wanted;
    const applied = await api.apply(
      deployments,
      { apiVersion, kind, metadata: key('d'), status: { observedGeneration: 3 } },
      { manager: 'status', subresource: 'status', force: true },
    );
    expect(applied.status?.observedGeneration).toBe(3);
  });

  test('names the fields at fault of an invalid object', async () => {
    const invalid = await refusal(api.create(configMaps, configMap('Not_A_Name')));
    expect(invalid).toMatchObject({ status: 422, reason: 'Invalid' });
    expect(invalid.message).toContain('metadata.name: Invalid value');
    expect(await refusal(api.create(configMaps, configMap('a', {}, 'absent')))).toMatchObject({ status: 404 });
  });

  test('refuses names that would address something else', async () => {
    await api.create(secrets, { ...configMap('target', {}), kind: 'Secret' });
    for (const name of ['', '.', '..', '../secrets/target', '..%2Fsecrets%2Ftarget']) {
      await expect(api.remove(configMaps, key(name))).rejects.toThrow('is not a name of an object');
      expect(await api.get(configMaps, key(name))).toBeUndefined();
    }
    expect(await api.get(configMaps, key('target?watch=true'))).toBeUndefined();
    expect(await api.get(secrets, key('target'))).toBeDefined();
  });

  test('says that a type is not served', async () => {
    for (const work of [
      () => api.get(widgets, key('a')),
      () => api.list(widgets),
      () => api.remove(widgets, key('a')),
    ]) {
      const cause = await refusal(work());
      expect(isMissingType(cause)).toBe(true);
      expect(cause.message).toMatch(
        /^cannot \w+ Widget.*: the server does not serve this type; is its CRD installed\?$/,
      );
    }
    const unknown = { ...widgets, apiVersion: 'apps/v1' };
    expect(isMissingType(await refusal(api.list(unknown)))).toBe(true);
  });

  test('lists in pages, by namespace, label and field, and metadata only', async () => {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } });
    const names = Array.from({ length: 260 }, (_, at) => `m${at}`);
    const labelled = {
      ...configMap('x', {}, 'many'),
      metadata: { namespace: 'many', name: 'x', labels: { l: 'yes' } },
    };
    await Promise.all([
      ...names.map((name) => api.create(configMaps, configMap(name, {}, 'many'))),
      api.create(configMaps, labelled),
      api.create(secrets, { ...configMap('s', { pass: 'c2VjcmV0' }, 'many'), kind: 'Secret' }),
    ]);
    const all = await api.list(configMaps, { namespace: 'many' });
    expect(all.items).toHaveLength(261);
    expect(all.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(new Set(all.items.map(({ metadata }) => metadata.name)).size).toBe(261);
    const by = async (options: object) => (await api.list(configMaps, { namespace: 'many', ...options })).items.length;
    expect(await by({ labelSelector: 'l=yes' })).toBe(1);
    expect(await by({ fieldSelector: 'metadata.name=m7' })).toBe(1);
    expect((await api.list(configMaps)).items.length).toBeGreaterThan(261);
    const { items } = await api.list(secrets, { namespace: 'many', metadataOnly: true });
    expect(items).toMatchObject([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }]);
    expect(items[0]).not.toHaveProperty('data');
  });

  test('watches from a list, with metadata only on request, until the signal aborts', async () => {
    const { resourceVersion } = await api.list(secrets);
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { type, object } of api.watch(secrets, {
        resourceVersion,
        metadataOnly: true,
        signal: stop.signal,
      })) {
        if (type === 'BOOKMARK') continue;
        expect(object.kind).toBe('Secret');
        expect(object).not.toHaveProperty('data');
        seen.push(`${type} ${object.metadata.name}`);
        if (seen.length === 3) stop.abort();
      }
    })();
    await api.create(secrets, { ...configMap('w', {}), kind: 'Secret' });
    await api.patch(secrets, key('w'), { data: { a: 'YQ==' } });
    await api.remove(secrets, key('w'));
    await watching;
    expect(seen).toEqual(['ADDED w', 'MODIFIED w', 'DELETED w']);
  });

  test('says who may not do what', async () => {
    await api.create(
      { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: key('weak') },
    );
    const path = '/api/v1/namespaces/default/serviceaccounts/weak/token';
    const answer = await cluster.request('POST', path, { spec: {} });
    const { token } = (answer.body as { status: { token: string } }).status;
    await using weak = createApi(connectionTo(cluster, token));
    const cause = await refusal(weak.list(secrets, { namespace: 'default' }));
    expect(cause).toMatchObject({ status: 403, reason: 'Forbidden' });
    expect(cause.message).toContain('system:serviceaccount:default:weak" cannot list resource "secrets"');
    await using stranger = createApi(connectionTo(cluster, 'wrong'));
    expect(await refusal(stranger.list(secrets))).toMatchObject({ status: 401, reason: 'Unauthorized' });
  });

  test('connects with the files of a pod, and reads a replaced token after a refusal', async () => {
    const folder = temporaryFolder('sa');
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    const { hostname, port } = new URL(cluster.server);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    write('token', cluster.token);
    await expect(inClusterConnection({ env, folder })).rejects.toThrow(`${join(folder, 'ca.crt')} cannot be read`);
    write('ca.crt', (await connectionTo(cluster).credentials()).tls.ca ?? '');
    write('namespace', 'team\n');
    write('token', 'expired\n');
    const connection = await inClusterConnection({ env, folder });
    expect(connection).toMatchObject({ namespace: 'team', server: cluster.server });
    write('token', `${cluster.token}\n`);
    await using pod = createApi(connection);
    expect((await pod.list(namespaces)).items.length).toBeGreaterThan(0);
    await expect(inClusterConnection({ env: {}, folder })).rejects.toThrow('KUBERNETES_SERVICE_HOST is not set');
  });

  test('reports 410 for a version whose history is gone', async () => {
    const { resourceVersion } = await api.list(configMaps);
    for (const value of ['1', '2', '3']) await api.apply(configMaps, configMap('c', { value }), { manager: 'm' });
    await cluster.killApiServer();
    await cluster.startApiServer();
    await cluster.compact();
    const watch = async (): Promise<void> => {
      const signal = AbortSignal.timeout(20_000);
      for await (const _ of api.watch(configMaps, { resourceVersion, signal })) return;
    };
    expect(await refusal(watch())).toMatchObject({ status: 410, reason: 'Expired' });
  });

  test('repeats a request while the server is down, and names what it could not do', async () => {
    await cluster.killApiServer();
    const cause = await refusal(api.create(configMaps, configMap('down')));
    expect(cause).toMatchObject({ status: 0, reason: 'Unreachable' });
    expect(cause.message).toMatch(/^cannot create ConfigMap default\/down: .*ECONNREFUSED/);
    await cluster.startApiServer();
    await api.create(configMaps, configMap('down'));
  });
});
