import type { ClosableApi, KubeObject, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { typeOfKind } from '../../../../../hosts/operator/kinds/kind.ts';
import { type VirtualMcpServer, virtualMcpServer } from '../../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import {
  type ConfigMap,
  configMaps,
  type Deployment,
  deployments,
  roleBindings,
  roles,
  type Service,
  serviceAccounts,
  services,
} from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import { allCrds } from '../../../../support/crds.ts';
import { type KubeCluster, missingKube, startKube } from '../../../../support/kube.ts';
import { apiOf } from '../../../../support/kube-api.ts';
import type { OperatorRounds } from '../../../../support/operator-rounds.ts';
import { proves as declares } from '../../../../support/proves.ts';
import { type Resolved, resolved, serverRounds } from '../../../../support/resolved-server.ts';

const missing = missingKube();
const proves = declares.skipIf(missing !== undefined, missing ?? '');
const TYPE = typeOfKind(virtualMcpServer);
const OWNED: readonly ResourceType[] = [deployments, services, configMaps, serviceAccounts, roles, roleBindings];
const WAIT = { timeout: 60_000, interval: 250 };
const LIMIT_MS = 120_000;

describe.skipIf(missing !== undefined)(
  `objects of a VirtualMCPServer ${missing ? `(skipped: ${missing})` : ''}`,
  () => {
    let cluster: KubeCluster;
    let api: ClosableApi;
    let number = 0;
    beforeAll(async () => {
      cluster = await startKube({ crds: allCrds() });
      api = apiOf(cluster);
    }, 240_000);
    afterAll(async () => {
      await api?.[Symbol.asyncDispose]();
      await cluster?.[Symbol.asyncDispose]();
    });

    /** A namespace with one VirtualMCPServer `a` and an operator for it. */
    const start = async (spec: object = {}, now: Resolved = resolved()) => {
      const namespace = `team-${++number}`;
      await cluster.createNamespace(namespace);
      const put = (change: object): Promise<VirtualMcpServer> =>
        api.apply(TYPE, serverObject(namespace, change), { manager: 'user', force: true });
      await put(spec);
      const operator = (): OperatorRounds => serverRounds({ api, namespace }, now);
      const read = async <T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T> => {
        const found = await api.get(type, { namespace, name });
        if (found === undefined) throw new Error(`no ${type.kind} ${name}`);
        return found;
      };
      return {
        ...{ namespace, now, put, operator, read },
        deployment: () => read(deployments, 'a') as Promise<Deployment>,
        server: () => read(TYPE, 'a') as Promise<VirtualMcpServer>,
        kubectl: (...args: string[]) => cluster.kubectl(['-n', namespace, ...args]),
        async owned() {
          const lists = await Promise.all(OWNED.map((type) => api.list(type, { namespace })));
          return lists
            .flatMap(({ items }, at) => items.map((item) => ({ kind: OWNED[at]?.kind, item })))
            .filter(({ item }) => item.metadata.ownerReferences?.some(({ kind }) => kind === TYPE.kind))
            .map(({ kind, item }) => `${kind} ${item.metadata.name}`)
            .sort();
        },
      };
    };

    it(
      'six lines make every object once; the next round and the next operator write nothing',
      async () => {
        const team = await start();
        const first = team.operator();
        await first.reconcile('a');
        expect(first.writes).toEqual([
          'apply ServiceAccount a-vmcp',
          'apply Role a-vmcp',
          'apply RoleBinding a-vmcp',
          'create Secret a-vmcp-state',
          'apply ConfigMap a-vmcp-config',
          'apply ConfigMap a-vmcp-backends',
          'apply ConfigMap a-vmcp-report',
          'apply Deployment a',
          'apply Service vmcp-a',
          'apply status VirtualMCPServer a',
        ]);
        expect(first.events.map(({ reason }) => reason)).toEqual([
          ...['HMACSecretCreated', 'DeploymentCreated', 'ServiceCreated'],
        ]);
        await first.reconcileStale('a');
        await first.reconcile('a');
        await first.reconcile('a');
        const next = team.operator();
        await next.reconcile('a');
        await next.reconcile('a');
        expect([first.writes.length, next.writes]).toEqual([10, []]);
        const reads = next.reads.length;
        await next.reconcile('a');
        expect(next.reads.slice(reads)).toEqual([]);
        const { status } = await team.server();
        expect(status).toMatchObject({
          phase: 'Pending',
          url: `http://vmcp-a.${team.namespace}.svc.cluster.local:4483`,
        });
        expect(JSON.parse(await team.kubectl('get', 'service', 'vmcp-a', '-o', 'json')).spec).toMatchObject({
          type: 'ClusterIP',
          sessionAffinity: 'ClientIP',
          ports: [{ name: 'http', port: 4483 }],
        });
      },
      LIMIT_MS,
    );

    proves(
      ['vmcp.spec.replicas', 'vmcp.spec.replicas-unset', 'vmcp.spec.service-type', 'vmcp.spec.session-affinity'],
      'replicas, serviceType and sessionAffinity follow the object; without replicas their number is left alone',
      async () => {
        const team = await start({ replicas: 2, serviceType: 'NodePort', sessionAffinity: 'None' });
        const operator = team.operator();
        await operator.reconcile('a');
        expect((await team.deployment()).spec.replicas).toBe(2);
        const { spec } = (await team.read(services, 'vmcp-a')) as Service;
        expect(spec).toMatchObject({ type: 'NodePort', sessionAffinity: 'None' });
        await team.kubectl('scale', 'deployment', 'a', '--replicas=5');
        await operator.reconcile('a');
        expect((await team.deployment()).spec.replicas).toBe(2);
        await team.put({});
        await operator.reconcile('a');
        const after = await team.deployment();
        expect([after.spec.replicas, (await team.server()).status?.phase]).toEqual([2, 'Pending']);
        await team.kubectl('scale', 'deployment', 'a', '--replicas=4');
        const before = operator.writes.length;
        await operator.reconcile('a');
        expect([operator.writes.length, (await team.deployment()).spec.replicas]).toEqual([before, 4]);
        await team.put({ replicas: 0 });
        await operator.reconcile('a');
        expect((await team.deployment()).spec.replicas).toBe(0);
        expect((await team.read(services, 'vmcp-a')).spec).toMatchObject({
          type: 'ClusterIP',
          sessionAffinity: 'ClientIP',
        });
      },
      LIMIT_MS,
    );

    it(
      'what others change in applied fields is corrected, and their own fields stay',
      async () => {
        const team = await start();
        const operator = team.operator();
        await operator.reconcile('a');
        await team.kubectl('rollout', 'restart', 'deployment/a');
        await team.kubectl('annotate', 'service', 'vmcp-a', 'cloud.example/neg={}');
        await team.kubectl('set', 'env', 'deployment/a', 'MINE=1');
        const writes = operator.writes.length;
        await operator.reconcile('a');
        expect(operator.writes.slice(writes)).toEqual([]);

        await team.kubectl('set', 'image', 'deployment/a', 'vmcp=evil:1');
        await team.kubectl('patch', 'role', 'a-vmcp', '--type=json', '-p', JSON.stringify([ALL_SECRETS]));
        await team.kubectl('patch', 'configmap', 'a-vmcp-config', '-p', '{"data":{"config.yaml":"other"}}');
        await team.kubectl('label', 'service', 'vmcp-a', 'toolmgr-name-');
        await team.kubectl('delete', 'rolebinding', 'a-vmcp');
        await operator.reconcile('a');
        expect(operator.writes.slice(writes).sort()).toEqual([
          'apply ConfigMap a-vmcp-config',
          'apply Deployment a',
          'apply Role a-vmcp',
          'apply RoleBinding a-vmcp',
          'apply Service vmcp-a',
        ]);
        const { template } = (await team.deployment()).spec;
        expect(template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt']).toBeDefined();
        const [container] = template.spec.containers;
        expect(container?.image).toBe('example.test/toolmgr:1');
        expect(container?.env).toContainEqual({ name: 'MINE', value: '1' });
        expect((await team.read(roles, 'a-vmcp')).rules).toHaveLength(3);
        expect(((await team.read(configMaps, 'a-vmcp-config')) as ConfigMap).data).toEqual({
          'config.yaml': 'name: a\n',
        });
        expect((await team.read(services, 'vmcp-a')).metadata.annotations?.['cloud.example/neg']).toBe('{}');
        const all = operator.writes.length;
        await operator.reconcile('a');
        expect(operator.writes.slice(all)).toEqual([]);
      },
      LIMIT_MS,
    );

    it(
      'a changed checksum makes new pods, a changed backends document does not',
      async () => {
        const team = await start();
        const operator = team.operator();
        await operator.reconcile('a');
        const before = await team.deployment();
        team.now.document = '{"checksum":"d2","backends":[],"secrets":{}}';
        team.now.secretNames = ['header', 'other'];
        const writes = operator.writes.length;
        await operator.reconcile('a');
        expect(operator.writes.slice(writes)).toEqual(['apply Role a-vmcp', 'apply ConfigMap a-vmcp-backends']);
        expect((await team.deployment()).metadata.generation).toBe(before.metadata.generation);
        team.now.checksum = 'c2';
        await operator.reconcile('a');
        const after = await team.deployment();
        expect(after.spec.template.metadata?.annotations?.['toolmgr.dev/config-checksum']).toBe('c2');
        expect(operator.events.map(({ reason }) => reason)).toEqual([
          'HMACSecretCreated',
          'DeploymentCreated',
          'ServiceCreated',
          'DeploymentUpdated',
        ]);
      },
      LIMIT_MS,
    );

    proves(
      'vmcp.spec.service-account',
      'with a service account of the user the own one is removed after the pods use the other, and made again without it',
      async () => {
        const team = await start({}, resolved({ document: undefined, secretNames: [] }));
        const operator = team.operator();
        await operator.reconcile('a');
        expect((await team.deployment()).spec.template.spec.serviceAccountName).toBe('a-vmcp');
        expect(await team.owned()).not.toContain('ConfigMap a-vmcp-backends');
        await team.kubectl('create', 'serviceaccount', 'mine');
        await team.put({ serviceAccount: 'mine' });
        const writes = operator.writes.length;
        await operator.reconcile('a');
        expect(operator.writes.slice(writes)).toEqual([
          'apply Deployment a',
          'remove RoleBinding a-vmcp',
          'remove Role a-vmcp',
          'remove ServiceAccount a-vmcp',
          'apply status VirtualMCPServer a',
        ]);
        expect((await team.deployment()).spec.template.spec.serviceAccountName).toBe('mine');
        await operator.reconcileStale('a');
        await operator.reconcile('a');
        expect(operator.writes.length).toBe(writes + 5);
        expect(await team.owned()).toEqual([
          'ConfigMap a-vmcp-config',
          'ConfigMap a-vmcp-report',
          'Deployment a',
          'Service vmcp-a',
        ]);
        await team.put({});
        await operator.reconcile('a');
        expect(await team.owned()).toContain('ServiceAccount a-vmcp');
      },
      LIMIT_MS,
    );

    proves(
      [
        'vmcp.spec.image-pull-secrets',
        'vmcp.spec.image-pull-secrets-where',
        'vmcp.spec.image-pull-secrets-union',
        'vmcp.spec.image-pull-secrets-collision',
        'vmcp.spec.image-pull-secrets-service-account',
        'vmcp.spec.pod-template-spec',
      ],
      'pull secrets of the pod are those of the object and of the pod template; the account has only those of the object',
      async () => {
        const team = await start({
          imagePullSecrets: [{ name: 'one' }, { name: 'both' }],
          podTemplateSpec: {
            metadata: { labels: { team: 'x' } },
            spec: {
              imagePullSecrets: [{ name: 'both' }, { name: 'two' }],
              containers: [
                { name: 'vmcp', resources: { limits: { cpu: '1000m' } }, env: [{ name: 'EXTRA', value: '' }] },
              ],
            },
          },
        });
        const operator = team.operator();
        await operator.reconcile('a');
        const { template } = (await team.deployment()).spec;
        expect(template.spec.imagePullSecrets).toEqual([{ name: 'one' }, { name: 'both' }, { name: 'two' }]);
        expect(template.metadata?.labels).toMatchObject({ team: 'x', 'app.kubernetes.io/instance': 'a' });
        expect(template.spec.containers[0]?.resources).toMatchObject({ limits: { cpu: '1', memory: '512Mi' } });
        const account = await team.read(serviceAccounts, 'a-vmcp');
        expect(account.imagePullSecrets).toEqual([{ name: 'one' }, { name: 'both' }]);
        expect((await team.server()).status?.conditions).toContainEqual(
          expect.objectContaining({ type: 'PodTemplateSpecValid', status: 'True' }),
        );
        const writes = operator.writes.length;
        await operator.reconcile('a');
        expect(operator.writes.slice(writes)).toEqual([]);
        await team.put({});
        await operator.reconcile('a');
        expect((await team.deployment()).spec.template.spec.imagePullSecrets).toBeUndefined();
        expect((await team.read(serviceAccounts, 'a-vmcp')).imagePullSecrets).toBeUndefined();
      },
      LIMIT_MS,
    );

    it.each([
      ['an unknown key', { spec: { containers: [{ name: 'vmcp', imagee: 'x' }] } }, 'imagee'],
      ['a value that the API refuses', { spec: { restartPolicy: 'Never' } }, 'restartPolicy'],
      ['an item without its key', { spec: { containers: [{ image: 'x' }] } }, 'needs name'],
      ['a changed selector label', { metadata: { labels: { 'app.kubernetes.io/instance': 'b' } } }, 'instance'],
      ['a removed container', { spec: { containers: [{ name: 'vmcp', $patch: 'delete' }] } }, 'container vmcp'],
    ])(
      'a podTemplateSpec with %s is a condition, and the Deployment stays as it is',
      async (_what, podTemplateSpec, named) => {
        const team = await start();
        const operator = team.operator();
        await operator.reconcile('a');
        const before = await team.deployment();
        await team.put({ podTemplateSpec });
        await operator.reconcile('a');
        await operator.reconcile('a');
        const { status } = await team.server();
        expect(status).toMatchObject({ phase: 'Failed' });
        expect(status?.conditions).toContainEqual(
          expect.objectContaining({
            type: 'PodTemplateSpecValid',
            status: 'False',
            reason: 'InvalidPodTemplateSpec',
            message: expect.stringContaining(named),
          }),
        );
        const after = await team.deployment();
        expect(after.metadata.generation).toBe(before.metadata.generation);
        const warnings = operator.events.filter(({ type }) => type === 'Warning');
        expect(new Set(warnings.map(({ reason, transition }) => `${reason} ${transition}`)).size).toBe(1);
        await team.put({});
        await operator.reconcile('a');
        expect((await team.server()).status?.phase).toBe('Pending');
      },
      LIMIT_MS,
    );

    it(
      'an object of another owner is not taken over',
      async () => {
        const team = await start();
        await team.kubectl('create', 'service', 'clusterip', 'vmcp-a', '--tcp=80');
        await team.kubectl('create', 'serviceaccount', 'a-vmcp');
        const operator = team.operator();
        await operator.reconcile('a');
        expect((await team.server()).status).toMatchObject({
          phase: 'Failed',
          message: expect.stringContaining('ServiceAccount a-vmcp exists and has no owner'),
        });
        expect(await team.owned()).toEqual([]);
        const warnings = () => operator.events.filter(({ type }) => type === 'Warning').map(({ message }) => message);
        await operator.reconcile('a');
        expect(warnings()).toEqual([expect.stringContaining('ServiceAccount a-vmcp exists')]);
        await team.kubectl('delete', 'serviceaccount', 'a-vmcp');
        await operator.reconcile('a');
        expect(warnings()).toEqual([expect.anything(), expect.stringContaining('Service vmcp-a exists')]);
        expect((await team.server()).status?.message).toContain('Service vmcp-a exists');
        expect((await team.read(services, 'vmcp-a')).spec).toMatchObject({ ports: [{ port: 80 }] });
      },
      LIMIT_MS,
    );

    it(
      'the objects are deleted with the VirtualMCPServer, and a new one of the same name waits for that',
      async () => {
        const team = await start();
        const operator = team.operator();
        await operator.reconcile('a');
        await team.kubectl('delete', 'vmcp', 'a');
        await team.put({});
        await vi.waitFor(async () => {
          await operator.reconcile('a').catch(() => undefined);
          const uid = (await team.server()).metadata.uid;
          const owners = await Promise.all(
            ([deployments, services] as readonly ResourceType[]).map(async (type) => {
              const { items } = await api.list(type, { namespace: team.namespace });
              return items.flatMap((item) => item.metadata.ownerReferences?.map((owner) => owner.uid) ?? ['none']);
            }),
          );
          expect(owners).toEqual([[uid], [uid]]);
        }, WAIT);
        await team.kubectl('delete', 'vmcp', 'a');
        await operator.reconcile('a');
        await vi.waitFor(async () => expect(await team.owned()).toEqual([]), WAIT);
      },
      LIMIT_MS,
    );
  },
);

const ALL_SECRETS = {
  op: 'add',
  path: '/rules/-',
  value: { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
};

function serverObject(namespace: string, spec: object): VirtualMcpServer {
  return {
    apiVersion: TYPE.apiVersion,
    kind: TYPE.kind,
    metadata: { name: 'a', namespace },
    spec: { groupRef: { name: 'tools' }, incomingAuth: { type: 'anonymous' }, ...spec },
  } as VirtualMcpServer;
}
