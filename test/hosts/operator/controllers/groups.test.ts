import { keyOf, type Resource } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { CONFIG_KINDS } from '../../../../hosts/operator/controllers/config-checks.ts';
import { configController } from '../../../../hosts/operator/controllers/config-kinds.ts';
import { entryController } from '../../../../hosts/operator/controllers/entry.ts';
import { groupController } from '../../../../hosts/operator/controllers/group.ts';
import { typeNamed } from '../../../../hosts/operator/controllers/references.ts';
import { KINDS } from '../../../../hosts/operator/kinds/index.ts';
import type { Caches, EventText, ReconcileContext } from '../../../../hosts/operator/machinery/controller.ts';
import { configMaps, secrets } from '../../../../hosts/operator/objects/built-in-kinds.ts';
import { MANAGED_INFORMERS } from '../../../../hosts/operator/objects/managed-informers.ts';
import { certificates } from '../../../support/certificates.ts';
import { conditionsIn, startControllers } from '../../../support/controllers.ts';
import { countedApi } from '../../../support/counted-api.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';
import { own } from '../../../support/own-objects.ts';
import { until } from '../../../support/until.ts';

const WAIT_MS = 60_000;
const controllers = () => [groupController, entryController, ...CONFIG_KINDS.map(configController)];

describe.skipIf(kubeSkipped)(`groups and entries on a real API server${kubeSkipped}`, () => {
  const { api, namespace } = kubeSuite();

  const make = (kind: string, ns: string, name: string, spec: object = {}) =>
    api.apply(typeNamed(kind), own(kind, ns, name, spec), { manager: 'test', force: true });
  const statusOf = async (kind: string, ns: string, name: string) =>
    ((await api.get(typeNamed(kind), { namespace: ns, name })) as Resource<object, Status> | undefined)?.status;
  const entryConditions = async (ns: string, name: string) =>
    conditionsIn({ status: await statusOf('MCPServerEntry', ns, name) });
  const settles = (ns: string, name: string, wanted: object) =>
    until(async () => {
      const found = await entryConditions(ns, name);
      return Object.entries(wanted).every(([type, text]) => found[type] === text);
    }, WAIT_MS);

  it('a group lists its members by kind, sorted, and a member that moves changes both groups', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, controllers());
    await make('MCPGroup', ns, 'one');
    await make('MCPGroup', ns, 'two');
    const groupRef = { name: 'one' };
    for (const name of ['z', 'a']) await make('MCPServer', ns, name, { groupRef });
    await make('MCPRemoteProxy', ns, 'p', { groupRef });
    await make('MCPServerEntry', ns, 'e', { groupRef });
    await until(async () => (await statusOf('MCPGroup', ns, 'one'))?.entryCount === 1, WAIT_MS);
    await running.idle();
    const one = await statusOf('MCPGroup', ns, 'one');
    expect(one).toMatchObject({
      phase: 'Ready',
      ...{
        servers: ['a', 'z'],
        serverCount: 2,
        remoteProxies: ['p'],
        remoteProxyCount: 1,
        entries: ['e'],
        entryCount: 1,
      },
    });
    expect(conditionsIn({ status: one })).toEqual({ MCPServersChecked: 'True/ListMCPServersCheckSucceeded' });
    expect(await statusOf('MCPGroup', ns, 'two')).toMatchObject({ phase: 'Ready', servers: [], serverCount: 0 });
    await make('MCPServer', ns, 'a', { groupRef: { name: 'two' } });
    await until(async () => (await statusOf('MCPGroup', ns, 'two'))?.serverCount === 1, WAIT_MS);
    await until(async () => (await statusOf('MCPGroup', ns, 'one'))?.serverCount === 1, WAIT_MS);
    await api.remove(typeNamed('MCPServer'), { namespace: ns, name: 'z' });
    await until(async () => (await statusOf('MCPGroup', ns, 'one'))?.serverCount === 0, WAIT_MS);
    expect(running.failures).toEqual([]);
  });

  it('a deleted group goes at once, and its members are marked; they recover with a new one', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, controllers());
    await make('MCPServerEntry', ns, 'e', { groupRef: { name: 'g' } });
    await settles(ns, 'e', { GroupRefValidated: 'False/GroupRefNotFound', Valid: 'False/ConfigInvalid' });
    expect((await statusOf('MCPServerEntry', ns, 'e'))?.phase).toBe('Failed');
    expect(running.events).toEqual(['ConfigInvalid MCPServerEntry/e']);
    await make('MCPGroup', ns, 'g');
    await settles(ns, 'e', { GroupRefValidated: 'True/GroupRefIsValid', Valid: 'True/ConfigValid' });
    expect((await statusOf('MCPServerEntry', ns, 'e'))?.phase).toBe('Valid');
    await api.remove(typeNamed('MCPGroup'), { namespace: ns, name: 'g' });
    expect(await statusOf('MCPGroup', ns, 'g')).toBeUndefined();
    await settles(ns, 'e', { GroupRefValidated: 'False/GroupRefNotFound' });
    await make('MCPGroup', ns, 'g');
    await settles(ns, 'e', { GroupRefValidated: 'True/GroupRefIsValid' });
    // a group that another finalizer keeps counts as gone already
    const finalizers = ['example.com/slow'];
    await api.patch(typeNamed('MCPGroup'), { namespace: ns, name: 'g' }, { metadata: { finalizers } });
    await api.remove(typeNamed('MCPGroup'), { namespace: ns, name: 'g' });
    await settles(ns, 'e', { GroupRefValidated: 'False/GroupRefNotFound' });
    await api.patch(typeNamed('MCPGroup'), { namespace: ns, name: 'g' }, { metadata: { finalizers: null } });
    expect(running.failures).toEqual([]);
  });

  it('without the group controller an entry waits for its group', async () => {
    const ns = await namespace();
    await make('MCPGroup', ns, 'g');
    await make('MCPServerEntry', ns, 'e', { groupRef: { name: 'g' } });
    await using _running = await startControllers(api, ns, [entryController]);
    await settles(ns, 'e', { GroupRefValidated: 'False/GroupRefNotReady' });
    expect((await statusOf('MCPServerEntry', ns, 'e'))?.phase).toBe('Pending');
  });

  it('a group whose members cannot be listed is Failed', async () => {
    const applied: unknown[] = [];
    const group = { ...own('MCPGroup', 'x', 'g'), metadata: { name: 'g', namespace: 'x', generation: 1 } };
    const reasons: string[] = [];
    const context = {
      now: () => 0,
      events: { emit: (_group: object, { reason }: EventText) => void reasons.push(reason) },
      api: {
        async apply(_type: unknown, object: object) {
          applied.push(object);
          return object;
        },
      },
      caches: {
        of: ({ kind }: { kind: string }) => {
          if (kind !== 'MCPGroup') throw new Error('not followed');
          return { get: () => group };
        },
      } as unknown as Caches,
    } as unknown as ReconcileContext;
    await groupController.reconcile({ namespace: 'x', name: 'g' }, context);
    const [object] = applied;
    expect(conditionsIn(object)).toEqual({ MCPServersChecked: 'False/ListMCPServersCheckFailed' });
    expect(object).toMatchObject({ status: { phase: 'Failed' } });
    expect(reasons).toEqual(['ListMCPServersCheckFailed']);
  });

  it('an entry says for each of its references whether it is there', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, controllers());
    await make('MCPGroup', ns, 'g');
    await make('MCPServerEntry', ns, 'e', {
      groupRef: { name: 'g' },
      externalAuthConfigRef: { name: 'auth' },
      caBundleRef: { configMapRef: { name: 'roots' } },
      headerForward: { addHeadersFromSecret: [{ headerName: 'X-Key', valueSecretRef: { name: 'keys', key: 'k' } }] },
    });
    const conditions = {
      RemoteURLValidated: 'True/RemoteURLValid',
      ExternalAuthConfigValidated: 'False/ExternalAuthConfigNotFound',
      CABundleRefValidated: 'False/CABundleRefNotFound',
      HeaderSecretRefsValidated: 'False/HeaderSecretNotFound',
      Valid: 'False/ConfigInvalid',
    };
    await settles(ns, 'e', conditions);
    await make('MCPExternalAuthConfig', ns, 'auth', { type: 'obo', obo: { tenantId: 'a' } });
    await settles(ns, 'e', { ExternalAuthConfigValidated: 'False/ExternalAuthConfigInvalid' });
    await make('MCPExternalAuthConfig', ns, 'auth', { type: 'unauthenticated' });
    await settles(ns, 'e', { ExternalAuthConfigValidated: 'True/ExternalAuthConfigValid' });
    const roots = (data: object) =>
      api.apply(
        configMaps,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: ns, name: 'roots' }, data } as never,
        { manager: 'test', force: true },
      );
    await roots({ other: 'x' });
    await settles(ns, 'e', { CABundleRefValidated: 'False/CABundleRefInvalid' });
    await roots({ 'ca.crt': 'no certificate' });
    await until(
      async () =>
        ((await statusOf('MCPServerEntry', ns, 'e'))?.conditions ?? []).some(({ message }) => message.includes('PEM')),
      WAIT_MS,
    );
    const { ca } = certificates();
    await roots({ 'ca.crt': ca });
    await settles(ns, 'e', { CABundleRefValidated: 'True/CABundleRefValid' });
    const keys = (data: Record<string, string>) =>
      api.apply(
        secrets,
        { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: ns, name: 'keys' }, data } as never,
        { manager: 'test', force: true },
      );
    await keys({ other: 'eA==' });
    await until(
      async () =>
        ((await statusOf('MCPServerEntry', ns, 'e'))?.conditions ?? []).some(({ message }) =>
          message.includes('has no key "k"'),
        ),
      WAIT_MS,
    );
    await keys({ k: 'eA==' });
    await settles(ns, 'e', { HeaderSecretRefsValidated: 'True/HeaderSecretRefsValid', Valid: 'True/ConfigValid' });
    expect((await statusOf('MCPServerEntry', ns, 'e'))?.phase).toBe('Valid');
    expect(running.failures).toEqual([]);
    const { items } = await api.list(
      { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' },
      { namespace: ns },
    );
    expect(items.map(keyOf)).toEqual([]);
  });

  it.each([
    ['https://mcp.example.com/mcp', false, true],
    ['http://10.1.2.3/mcp', false, false],
    ['http://10.1.2.3/mcp', true, true],
    ['http://[fd00::1]/mcp', false, false],
    ['http://tools.team.svc.cluster.local/mcp', false, false],
    ['http://tools.team.svc.cluster.local/mcp', true, true],
    ['http://tools.team.svc/mcp', false, false],
    ['http://tools/mcp', false, false],
    ['http://127.0.0.1/mcp', true, false],
    ['http://127.1/mcp', true, false],
    ['http://0x7f000001/mcp', true, false],
    ['http://0.0.0.0/mcp', true, false],
    ['http://[::1]/mcp', true, false],
    ['http://[::]/mcp', true, false],
    ['http://[::ffff:127.0.0.1]/mcp', true, false],
    ['http://[fe80::1]/mcp', true, false],
    ['http://169.254.169.254/latest', true, false],
    ['http://localhost/mcp', true, false],
    ['http://kubernetes.default/mcp', true, false],
    ['http://kubernetes.default.svc/mcp', true, false],
    ['http://kubernetes.default.svc.cluster.local/mcp', true, false],
    ['http://KUBERNETES.DEFAULT.SVC.CLUSTER.LOCAL./mcp', true, false],
    ['http://metadata.google.internal/mcp', true, false],
    ['http://a.metadata.google.internal/mcp', true, false],
    ['https://user:secret@mcp.example.com/mcp', false, false],
  ] as const)(
    'remoteUrl %s with allowPrivateEndpoint %s: valid %s',
    async (remoteUrl, allowPrivateEndpoint, isValid) => {
      const ns = 'default';
      await using _running = await startControllers(api, ns, [entryController]);
      await make('MCPServerEntry', ns, 'url', { remoteUrl, allowPrivateEndpoint });
      const wanted = isValid ? 'True/RemoteURLValid' : 'False/RemoteURLInvalid';
      await settles(ns, 'url', { RemoteURLValidated: wanted });
      const text = JSON.stringify(await statusOf('MCPServerEntry', ns, 'url'));
      expect(text).not.toContain('secret');
      await api.remove(typeNamed('MCPServerEntry'), { namespace: ns, name: 'url' });
    },
  );

  it('the operator is killed after any write and converges with the same writes; unchanged objects are not written', async () => {
    for (let kill = 1; ; kill++) {
      const ns = await namespace();
      await make('MCPGroup', ns, 'g');
      await make('MCPExternalAuthConfig', ns, 'auth');
      await make('MCPServerEntry', ns, 'e', { groupRef: { name: 'g' }, externalAuthConfigRef: { name: 'auth' } });
      const first = countedApi(api, kill);
      await using dying = await startControllers(first.api, ns, controllers());
      const isDead = await Promise.race([first.died.then(() => true), dying.idle().then(() => false)]);
      await dying[Symbol.asyncDispose]();
      const second = countedApi(api);
      await using running = await startControllers(second.api, ns, controllers());
      await settles(ns, 'e', { Valid: 'True/ConfigValid' });
      await running.idle();
      const third = countedApi(api);
      await using _again = await startControllers(third.api, ns, controllers());
      await _again.idle();
      expect(third.writes).toEqual([]);
      expect(third.reads()).toBe(INFORMERS);
      // an entry may see its group and its configuration before they are ready: at most three states
      const writes = [...first.writes, ...second.writes];
      expect(writes.filter((write) => write === 'apply MCPGroup/g status')).toHaveLength(1);
      expect(writes.filter((write) => write.includes('MCPExternalAuthConfig'))).toHaveLength(2);
      expect(writes.filter((write) => write.includes('MCPServerEntry')).length).toBeLessThanOrEqual(3);
      if (!isDead) break;
    }
  }, 180_000);
});

/** One list per informer. */
const INFORMERS = KINDS.length + MANAGED_INFORMERS.length;

interface Status {
  readonly phase?: string;
  readonly entryCount?: number;
  readonly serverCount?: number;
  readonly conditions?: readonly { readonly message: string }[];
}
