import type { KubeObject, ObjectKey, Resource } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { embeddingServerController } from '../../../../hosts/operator/controllers/embedding-server/index.ts';
import { typeNamed } from '../../../../hosts/operator/controllers/references.ts';
import {
  type Service,
  type StatefulSet,
  services,
  statefulSets,
} from '../../../../hosts/operator/objects/built-in-kinds.ts';
import { conditionsIn, startControllers } from '../../../support/controllers.ts';
import { countedApi } from '../../../support/counted-api.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';
import { own } from '../../../support/own-objects.ts';
import { until } from '../../../support/until.ts';

const WAIT_MS = 60_000;
const TYPE = typeNamed('EmbeddingServer');

describe.skipIf(kubeSkipped)(`embedding servers on a real API server${kubeSkipped}`, () => {
  const { api, namespace } = kubeSuite();

  const apply = (ns: string, spec: object, name = 'emb') =>
    api.apply(TYPE, own('EmbeddingServer', ns, name, spec), { manager: 'test', force: true });
  const statusOf = async (ns: string, name = 'emb') =>
    ((await api.get(TYPE, { namespace: ns, name })) as Resource<object, Status> | undefined)?.status;
  /** The API server sets the phase Pending itself: only a phase of the operator counts. */
  const phaseIs = (ns: string, phase: string, name = 'emb') =>
    until(async () => {
      const found = (await api.get(TYPE, { namespace: ns, name })) as Resource<object, Status> | undefined;
      const isSeen = found?.status?.observedGeneration === found?.metadata.generation;
      return isSeen && found?.status?.phase === phase;
    }, WAIT_MS);
  const setOf = (ns: string, name = 'emb'): Promise<StatefulSet | undefined> =>
    api.get(statefulSets, { namespace: ns, name });
  const setStatus = (key: ObjectKey, status: object) =>
    api.patch(statefulSets, key, { status }, { subresource: 'status' });

  it('the smallest object becomes a StatefulSet with a volume and a Service, and its phase follows the pods', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, [embeddingServerController()]);
    await apply(ns, {});
    await phaseIs(ns, 'Pending');
    const set = (await setOf(ns)) as StatefulSet & { spec: { volumeClaimTemplates: readonly Claim[] } };
    const [container] = set.spec.template.spec.containers;
    expect(container).toMatchObject({
      name: 'embedding',
      image: 'ghcr.io/huggingface/text-embeddings-inference:cpu-latest',
      imagePullPolicy: 'IfNotPresent',
      args: ['--model-id=BAAI/bge-small-en-v1.5', '--port=8080'],
      env: [
        { name: 'HF_HOME', value: '/data' },
        { name: 'MODEL_ID', value: 'BAAI/bge-small-en-v1.5' },
      ],
      livenessProbe: {
        httpGet: { path: '/health' },
        initialDelaySeconds: 60,
        periodSeconds: 30,
        timeoutSeconds: 10,
        failureThreshold: 3,
      },
      readinessProbe: {
        httpGet: { path: '/health' },
        initialDelaySeconds: 30,
        periodSeconds: 10,
        timeoutSeconds: 5,
        failureThreshold: 3,
      },
      volumeMounts: [{ name: 'model-cache', mountPath: '/data' }],
    });
    expect(set.spec.volumeClaimTemplates).toMatchObject([
      {
        metadata: { name: 'model-cache' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
      },
    ]);
    expect(set.metadata.ownerReferences).toMatchObject([{ kind: 'EmbeddingServer', name: 'emb', controller: true }]);
    const service = (await api.get(services, { namespace: ns, name: 'emb' })) as Service;
    expect(service.spec).toMatchObject({
      ports: [{ name: 'http', port: 8080 }],
      selector: set.spec.selector.matchLabels,
    });
    expect(await statusOf(ns)).toMatchObject({ url: `http://emb.${ns}.svc.cluster.local:8080`, readyReplicas: 0 });
    const key = { namespace: ns, name: 'emb' };
    await setStatus(key, { replicas: 1 });
    await phaseIs(ns, 'Downloading');
    await setStatus(key, { replicas: 1, readyReplicas: 1 });
    await phaseIs(ns, 'Ready');
    expect(conditionsIn({ status: await statusOf(ns) })).toEqual({ Ready: 'True/EmbeddingServerReady' });
    await setStatus(key, { replicas: 1, readyReplicas: 0 });
    await phaseIs(ns, 'Downloading');
    expect(running.failures).toEqual([]);
  });

  it('every field of the spec reaches its object', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, [embeddingServerController()]);
    await apply(ns, {
      ...{ model: '--model', image: 'example.com/tei:1', imagePullPolicy: 'Always', port: 9000, replicas: 3 },
      hfTokenSecretRef: { name: 'hf', key: 'token' },
      args: ['--max-batch-tokens=100'],
      env: [{ name: 'HF_HOME', value: '/other' }],
      imagePullSecrets: [{ name: 'pull' }],
      resources: { requests: { cpu: '1' } },
      modelCache: { size: '1Gi', accessMode: 'ReadWriteMany', storageClassName: 'fast' },
      resourceOverrides: {
        statefulSet: { labels: { a: 'b', 'app.kubernetes.io/name': 'mine' }, annotations: { c: 'd' } },
        service: { annotations: { e: 'f' } },
        persistentVolumeClaim: { labels: { g: 'h' } },
      },
      podTemplateSpec: {
        spec: { nodeSelector: { gpu: 'yes' }, containers: [{ name: 'embedding', env: [{ name: 'X', value: 'y' }] }] },
      },
    });
    await phaseIs(ns, 'Pending');
    const set = (await setOf(ns)) as StatefulSet & { spec: { volumeClaimTemplates: readonly Claim[] } };
    const { template } = set.spec;
    expect(set.spec.replicas).toBe(3);
    expect(set.metadata.labels).toMatchObject({ a: 'b', 'app.kubernetes.io/name': 'embeddingserver' });
    expect(set.metadata.annotations).toMatchObject({ c: 'd' });
    expect(template.spec).toMatchObject({ nodeSelector: { gpu: 'yes' }, imagePullSecrets: [{ name: 'pull' }] });
    expect(template.spec.containers[0]).toMatchObject({
      ...{ image: 'example.com/tei:1', imagePullPolicy: 'Always', resources: { requests: { cpu: '1' } } },
      args: ['--model-id=--model', '--port=9000', '--max-batch-tokens=100'],
      env: [
        { name: 'MODEL_ID', value: '--model' },
        { name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: 'hf', key: 'token' } } },
        { name: 'HF_HOME', value: '/other' },
        { name: 'X', value: 'y' },
      ],
    });
    expect(set.spec.volumeClaimTemplates).toMatchObject([
      {
        metadata: { labels: { g: 'h' } },
        spec: { accessModes: ['ReadWriteMany'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
      },
    ]);
    expect((await api.get(services, { namespace: ns, name: 'emb' }))?.metadata.annotations).toMatchObject({ e: 'f' });
    expect(conditionsIn({ status: await statusOf(ns) }).PodTemplateValid).toBe('True/ValidPodTemplateSpec');
    await apply(ns, { modelCache: { enabled: false } }, 'no-cache');
    await phaseIs(ns, 'Pending', 'no-cache');
    const without = await setOf(ns, 'no-cache');
    expect(without?.spec.volumeClaimTemplates).toBeUndefined();
    expect(without?.spec.template.spec.volumes).toMatchObject([{ name: 'model-cache', emptyDir: {} }]);
    expect(running.failures).toEqual([]);
  });

  it('a podTemplateSpec that cannot be merged, or that the API server refuses, is ignored and reported', async () => {
    const ns = await namespace();
    const counted = countedApi(api);
    await using running = await startControllers(counted.api, ns, [embeddingServerController()]);
    await apply(ns, { podTemplateSpec: { spec: { containers: [{ image: 'nameless' }] } } }, 'unmerged');
    await apply(ns, { podTemplateSpec: { spec: { restartPolicy: 'Never' } } }, 'refused');
    for (const name of ['unmerged', 'refused']) {
      await phaseIs(ns, 'Pending', name);
      expect(conditionsIn({ status: await statusOf(ns, name) }).PodTemplateValid).toBe('False/InvalidPodTemplateSpec');
      expect((await setOf(ns, name))?.spec.template.spec.containers[0]).toMatchObject({ name: 'embedding' });
    }
    await running.idle();
    const before = counted.writes.length;
    await setStatus({ namespace: ns, name: 'refused' }, { replicas: 1, readyReplicas: 1 });
    await phaseIs(ns, 'Ready', 'refused');
    await running.idle();
    expect(counted.writes.slice(before)).toEqual(['apply EmbeddingServer/refused status']);
    await apply(ns, { podTemplateSpec: { spec: { nodeSelector: { a: 'b' } } } }, 'refused');
    await until(
      async () => conditionsIn({ status: await statusOf(ns, 'refused') }).PodTemplateValid?.startsWith('True') === true,
      WAIT_MS,
    );
    expect(running.failures).toEqual([]);
  });

  it('what the API server refuses, and objects of others, make it Failed with the reason', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, [embeddingServerController()]);
    await apply(ns, {}, 'grown');
    await phaseIs(ns, 'Pending', 'grown');
    await apply(ns, { modelCache: { size: '20Gi' } }, 'grown');
    await phaseIs(ns, 'Failed', 'grown');
    expect((await statusOf(ns, 'grown'))?.message).toContain('statefulset');
    await api.create(services, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: ns, name: 'taken' } },
      spec: { ports: [{ name: 'x', port: 1, targetPort: 1, protocol: 'TCP' }], selector: { a: 'b' } },
    });
    await running.idle();
    await apply(ns, {}, 'taken');
    await phaseIs(ns, 'Failed', 'taken');
    expect((await statusOf(ns, 'taken'))?.message).toContain('Service taken exists');
    expect((await api.get(services, { namespace: ns, name: 'taken' }))?.spec.selector).toEqual({ a: 'b' });
    await running.idle();
    expect(running.events).toEqual(['grown', 'taken'].map((name) => `StatefulSetFailed EmbeddingServer/${name}`));
    expect(running.failures).toEqual([]);
  });

  it('fields of others stay, and changed fields come back', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, [embeddingServerController()]);
    await apply(ns, {});
    await phaseIs(ns, 'Pending');
    const key = { namespace: ns, name: 'emb' };
    const restarted = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' };
    await api.patch(statefulSets, key, { spec: { template: { metadata: { annotations: restarted } } } });
    await api.patch(statefulSets, key, { spec: { replicas: 5 } });
    await until(async () => (await setOf(ns))?.spec.replicas === 1, WAIT_MS);
    await running.idle();
    expect((await setOf(ns))?.spec.template.metadata?.annotations).toMatchObject(restarted);
    await api.remove(services, key);
    await until(async () => (await api.get(services, key)) !== undefined, WAIT_MS);
    expect(running.failures).toEqual([]);
  });

  it('a long name, and one with dots, give objects with short names of their own', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, [embeddingServerController()]);
    const names = [`${'a'.repeat(252)}b`, `${'a'.repeat(252)}c`, 'a.b.c', '1'];
    for (const name of names) await apply(ns, {}, name);
    for (const name of names) await phaseIs(ns, 'Pending', name);
    const sets = await api.list(statefulSets, { namespace: ns });
    const all = await api.list<KubeObject>(services, { namespace: ns });
    expect(sets.items).toHaveLength(names.length);
    expect(all.items).toHaveLength(names.length);
    for (const { metadata } of sets.items) expect(metadata.name.length).toBeLessThanOrEqual(52);
    for (const { metadata } of all.items) expect(metadata.name.length).toBeLessThanOrEqual(63);
    expect(running.failures).toEqual([]);
  });

  it('a deleted one is Terminating while something keeps it', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, [embeddingServerController()]);
    await apply(ns, {});
    await phaseIs(ns, 'Pending');
    const key = { namespace: ns, name: 'emb' };
    await api.patch(TYPE, key, { metadata: { finalizers: ['example.com/slow'] } });
    await api.remove(TYPE, key);
    await phaseIs(ns, 'Terminating');
    await api.patch(TYPE, key, { metadata: { finalizers: null } });
    await until(async () => (await api.get(TYPE, key)) === undefined, WAIT_MS);
    expect(running.failures).toEqual([]);
  });

  it('the operator is killed after any write and converges with the same writes; an unchanged object is not written', async () => {
    for (let kill = 1; ; kill++) {
      const ns = await namespace();
      await apply(ns, { podTemplateSpec: { spec: { nodeSelector: { a: 'b' } } } });
      const first = countedApi(api, kill);
      await using dying = await startControllers(first.api, ns, [embeddingServerController()]);
      const isDead = await Promise.race([first.died.then(() => true), dying.idle().then(() => false)]);
      await dying[Symbol.asyncDispose]();
      const second = countedApi(api);
      await using running = await startControllers(second.api, ns, [embeddingServerController()]);
      await running.idle();
      await phaseIs(ns, 'Pending');
      expect([...first.writes, ...second.writes]).toEqual([
        'apply Service/emb',
        'apply StatefulSet/emb',
        'apply EmbeddingServer/emb status',
      ]);
      if (!isDead) break;
    }
  });
});

interface Status {
  readonly phase?: string;
  readonly observedGeneration?: number;
  readonly message?: string;
  readonly url?: string;
}
interface Claim {
  readonly metadata: { readonly name: string };
}
