import type { Api, KubeObject, ObjectKey, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { expect, it } from 'vitest';
import { createContents } from '../../../../hosts/operator/controllers/contents.ts';
import type { Caches } from '../../../../hosts/operator/machinery/controller.ts';

const KEY = { namespace: 'team', name: 'a' };

it('contents are read once per resource version, and not at all without the object', async () => {
  const store = rig();
  const contents = createContents(store.api, store.caches);
  expect(await contents.configMap(KEY)).toBeUndefined();
  expect(store.reads()).toBe(0);
  store.put('ConfigMap', '1', { data: { 'ca.crt': 'pem' } });
  expect(await contents.configMap(KEY)).toEqual({ 'ca.crt': 'pem' });
  expect(await contents.configMap(KEY)).toEqual({ 'ca.crt': 'pem' });
  expect(store.reads()).toBe(1);
  store.put('ConfigMap', '2', { data: { 'ca.crt': 'other' } });
  expect(await contents.configMap(KEY)).toEqual({ 'ca.crt': 'other' });
  expect(store.reads()).toBe(2);
});

it('of a secret only sizes and hashes are kept, which differ between secrets with equal values', async () => {
  const store = rig();
  const contents = createContents(store.api, store.caches);
  const data = { token: Buffer.from('s3cr3t').toString('base64') };
  store.put('Secret', '1', { data });
  const first = await contents.secret(KEY);
  expect(first).toEqual({ token: { hash: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 6 } });
  expect(JSON.stringify(first)).not.toContain('s3cr3t');
  store.put('Secret', '2', { data, uid: 'other' });
  expect((await contents.secret(KEY))?.token?.hash).not.toBe(first?.token?.hash);
});

it('a secret or config map with 100,000 keys is not kept in memory, and displaces no other content', async () => {
  const store = rig();
  const contents = createContents(store.api, store.caches);
  store.put('ConfigMap', '1', { data: { 'ca.crt': 'pem' } });
  await contents.configMap(KEY);
  const data = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, '']));
  store.put('Secret', '1', { data });
  expect(await contents.secret(KEY)).toHaveProperty('k99999');
  expect(await contents.secret(KEY)).toHaveProperty('k0');
  expect(store.reads()).toBe(3);
  await contents.configMap(KEY);
  expect(store.reads()).toBe(3);
});

function rig() {
  const objects = new Map<string, KubeObject>();
  let reads = 0;
  const caches = { of: ({ kind }: ResourceType) => ({ get: () => objects.get(kind) }) } as unknown as Caches;
  const api = {
    async get({ kind }: ResourceType, _key: ObjectKey) {
      reads++;
      return objects.get(kind);
    },
  } as unknown as Api;
  return {
    ...{ api, caches, reads: () => reads },
    put(kind: string, resourceVersion: string, { uid = 'u', data }: { uid?: string; data: Record<string, string> }) {
      objects.set(kind, { apiVersion: 'v1', kind, metadata: { ...KEY, uid, resourceVersion }, data } as KubeObject);
    },
  };
}
