import type { ClosableApi, KubeObject, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeOfKind } from '../../../../../hosts/operator/kinds/kind.ts';
import { type VirtualMcpServer, virtualMcpServer } from '../../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import {
  configMaps,
  deployments,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
} from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import { allCrds } from '../../../../support/crds.ts';
import { type KubeCluster, missingKube, startKube } from '../../../../support/kube.ts';
import { apiOf } from '../../../../support/kube-api.ts';
import { Died } from '../../../../support/operator-rounds.ts';
import { type Resolved, resolved, serverRounds } from '../../../../support/resolved-server.ts';

const missing = missingKube();
const TYPE = typeOfKind(virtualMcpServer);
const OWNED: readonly ResourceType[] = [
  ...[deployments, services, configMaps, secrets, serviceAccounts, roles, roleBindings],
];
const PODS_USE_NEW_ACCOUNT = { spec: { serviceAccount: 'mine' }, now: { document: undefined, secretNames: [] } };

/** Writes of a reconcile, with the state before it. */
const CASES: readonly {
  readonly what: string;
  readonly before?: { readonly spec: object; readonly now: Partial<Resolved> };
  readonly spec: object;
  readonly now: Partial<Resolved>;
  readonly writes: readonly string[];
}[] = [
  {
    what: 'the first reconcile',
    spec: {},
    now: {},
    writes: [
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
    ],
  },
  {
    what: 'a change of everything: another account, inline mode, another configuration, no number of replicas',
    before: { spec: { replicas: 3 }, now: {} },
    ...PODS_USE_NEW_ACCOUNT,
    now: { ...PODS_USE_NEW_ACCOUNT.now, config: 'name: b\n', checksum: 'c2' },
    writes: [
      'apply ConfigMap a-vmcp-config',
      'apply Deployment a',
      'apply Deployment a',
      'remove RoleBinding a-vmcp',
      'remove Role a-vmcp',
      'remove ServiceAccount a-vmcp',
      'remove ConfigMap a-vmcp-backends',
      'apply status VirtualMCPServer a',
    ],
  },
];

describe.skipIf(missing !== undefined)(`an operator that is killed ${missing ? `(skipped: ${missing})` : ''}`, () => {
  let cluster: KubeCluster;
  let api: ClosableApi;
  let number = 0;
  beforeAll(async () => {
    cluster = await startKube({ crds: allCrds(), controllers: false });
    api = apiOf(cluster);
  }, 240_000);
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  it.each(
    // a death before a write leaves what a death after the one before leaves
    CASES.flatMap((each) => [
      { ...each, write: each.writes[0], at: 1, when: 'before' as const },
      ...each.writes.map((write, at) => ({ ...each, write, at: at + 1, when: 'after' as const })),
    ]),
  )(
    '$when write $at ($write) of $what: the next one makes the other writes, none twice',
    async ({ before, spec, now, writes, at, when }) => {
      const namespace = `crash-${++number}`;
      await cluster.createNamespace(namespace);
      await api.create(serviceAccounts, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'mine', namespace },
      });
      const put = (change: object): Promise<unknown> =>
        api.apply(TYPE, serverObject(namespace, change), { manager: 'user', force: true });
      if (before !== undefined) {
        await put(before.spec);
        await serverRounds({ api, namespace }, resolved(before.now)).reconcile('a');
      }
      await put(spec);
      const first = serverRounds({ api, namespace, dies: { at, when } }, resolved(now));
      await expect(first.reconcile('a')).rejects.toThrow(Died);
      const next = serverRounds({ api, namespace }, resolved(now));
      await next.reconcile('a');
      expect([...first.writes, ...next.writes]).toEqual(writes);
      if (before === undefined) expect(next.events.map(({ reason }) => reason)).toEqual(CREATED);
      const last = serverRounds({ api, namespace }, resolved(now));
      await last.reconcile('a');
      expect(last.writes).toEqual([]);
      expect(await ownedIn(api, namespace)).toEqual(before === undefined ? ALL : WITHOUT_ACCOUNT);
      const deployment = await api.get(deployments, { namespace, name: 'a' });
      expect(deployment?.spec.replicas).toBe(before === undefined ? 1 : 3);
    },
  );

  it('an API server that is killed and started again: the reconcile fails, the next one converges', async () => {
    const namespace = `crash-${++number}`;
    await cluster.createNamespace(namespace);
    await api.apply(TYPE, serverObject(namespace, {}), { manager: 'user', force: true });
    const now = resolved();
    const operator = serverRounds({ api, namespace }, now);
    await operator.reconcile('a');
    now.checksum = 'c2';
    await cluster.killApiServer();
    await expect(operator.reconcileStale('a')).rejects.toThrow();
    await cluster.startApiServer();
    await cluster.compact();
    const writes = operator.writes.length;
    await operator.reconcile('a');
    expect(operator.writes.slice(writes)).toEqual(['apply Deployment a']);
    await operator.reconcile('a');
    expect(operator.writes).toHaveLength(writes + 1);
  }, 240_000);
});

const CREATED = ['HMACSecretCreated', 'DeploymentCreated', 'ServiceCreated'];
const WITHOUT_ACCOUNT = [
  ...['ConfigMap a-vmcp-config', 'ConfigMap a-vmcp-report', 'Deployment a', 'Secret a-vmcp-state', 'Service vmcp-a'],
];
const OF_ACCOUNT = ['Role a-vmcp', 'RoleBinding a-vmcp', 'ServiceAccount a-vmcp'];
const ALL = [...WITHOUT_ACCOUNT, ...OF_ACCOUNT, 'ConfigMap a-vmcp-backends'].sort();

async function ownedIn(api: ClosableApi, namespace: string): Promise<readonly string[]> {
  const lists = await Promise.all(OWNED.map((type) => api.list<KubeObject>(type, { namespace })));
  return lists
    .flatMap(({ items }, at) => items.map((item) => ({ kind: OWNED[at]?.kind, item })))
    .filter(({ item }) => item.metadata.ownerReferences?.some(({ kind }) => kind === TYPE.kind))
    .map(({ kind, item }) => `${kind} ${item.metadata.name}`)
    .sort();
}

function serverObject(namespace: string, spec: object): VirtualMcpServer {
  return {
    apiVersion: TYPE.apiVersion,
    kind: TYPE.kind,
    metadata: { name: 'a', namespace },
    spec: { groupRef: { name: 'tools' }, incomingAuth: { type: 'anonymous' }, ...spec },
  } as VirtualMcpServer;
}
