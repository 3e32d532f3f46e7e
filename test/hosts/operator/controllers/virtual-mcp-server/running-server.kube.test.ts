import type { ClosableApi, KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { typeOfKind } from '../../../../../hosts/operator/kinds/kind.ts';
import { type VirtualMcpServer, virtualMcpServer } from '../../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import { configMaps, deployments, pods } from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import { type RunningOperator, startOperator } from '../../../../../hosts/operator/operator.ts';
import { settingsFrom } from '../../../../../hosts/operator/settings.ts';
import { type PodReport, reportAnnotation, shortHash } from '../../../../../hosts/vmcp/pod-report.ts';
import { allCrds } from '../../../../support/crds.ts';
import { type KubeCluster, missingKube, startKube } from '../../../../support/kube.ts';
import { apiOf, connectionTo } from '../../../../support/kube-api.ts';
import { proves as declares } from '../../../../support/proves.ts';

const missing = missingKube();
const proves = declares.skipIf(missing !== undefined, missing ?? '');
const TYPE = typeOfKind(virtualMcpServer);
const WAIT = { timeout: 60_000, interval: 100 };
const LIMIT_MS = 180_000;

describe.skipIf(missing !== undefined)(
  `a VirtualMCPServer with all controllers ${missing ? `(skipped: ${missing})` : ''}`,
  () => {
    let cluster: KubeCluster;
    let api: ClosableApi;
    let operator: RunningOperator;
    const errors: unknown[] = [];
    beforeAll(async () => {
      cluster = await startKube({ crds: allCrds() });
      api = apiOf(cluster);
      const log = {
        info() {},
        warn() {},
        error: (message: string, fields?: object) => void errors.push({ message, ...fields }),
      };
      operator = await startOperator({
        connection: connectionTo(cluster),
        settings: settingsFrom({ TOOLMGR_IMAGE: 'example.test/toolmgr:1' }, { namespace: 'default', identity: 'test' }),
        ...{ metrics: 'none', probes: 'none', leaderElect: false, concurrency: 4, log },
      });
    }, 240_000);
    afterAll(async () => {
      await operator?.[Symbol.asyncDispose]();
      await api?.[Symbol.asyncDispose]();
      await cluster?.[Symbol.asyncDispose]();
    });

    const start = async (namespace: string) => {
      await cluster.createNamespace(namespace);
      const put = (kind: string, name: string, spec: object): Promise<string> =>
        cluster.kubectl(['apply', '--server-side'], manifest(kind, namespace, name, spec));
      await secret(namespace, 's3cr3t-1');
      await put('MCPGroup', 'tools', {});
      await put('MCPExternalAuthConfig', 'header', {
        type: 'headerInjection',
        headerInjection: { headerName: 'X-Key', valueSecretRef: { name: 'key', key: 'value' } },
      });
      await put('MCPServerEntry', 'search', {
        groupRef: { name: 'tools' },
        remoteUrl: 'https://search.example.com/mcp',
        transport: 'streamable-http',
        externalAuthConfigRef: { name: 'header' },
      });
      await put('VirtualMCPServer', 'a', SERVER);
      return {
        put,
        async server(): Promise<VirtualMcpServer> {
          const found = await api.get(TYPE, { namespace, name: 'a' });
          if (found === undefined) throw new Error('no server');
          return found;
        },
        async deployment() {
          const found = await api.get(deployments, { namespace, name: 'a' });
          if (found === undefined) throw new Error('no Deployment');
          return found;
        },
        async document(): Promise<{ checksum: string; backends: { name: string }[] }> {
          const found = await api.get(configMaps, { namespace, name: 'a-vmcp-backends' });
          return JSON.parse(found?.data?.['backends.json'] ?? '{}');
        },
      };
    };

    const secret = (namespace: string, value: string): Promise<KubeObject> =>
      api.apply(
        { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace }, stringData: { value } } as KubeObject,
        { manager: 'user', force: true },
      );

    it(
      'in discovered mode members and secrets change the document, not the pods; in inline mode a secret makes new pods',
      async () => {
        const team = await start('rotation');
        await vi.waitFor(
          async () => expect((await team.document()).backends).toMatchObject([{ name: 'search' }]),
          WAIT,
        );
        await vi.waitFor(async () => void (await team.deployment()), WAIT);
        const before = { document: await team.document(), deployment: await team.deployment() };
        await secret('rotation', 's3cr3t-2');
        await vi.waitFor(async () => {
          expect((await team.document()).checksum).not.toBe(before.document.checksum);
        }, WAIT);
        await team.put('MCPServerEntry', 'docs', {
          groupRef: { name: 'tools' },
          remoteUrl: 'https://docs.example.com/mcp',
          transport: 'streamable-http',
        });
        await vi.waitFor(async () => expect((await team.document()).backends).toHaveLength(2), WAIT);
        expect((await team.deployment()).metadata.generation).toBe(before.deployment.metadata.generation);
        expect(JSON.stringify(await team.document())).not.toContain('s3cr3t');

        await team.put('VirtualMCPServer', 'a', { ...SERVER, outgoingAuth: { source: 'inline' } });
        await vi.waitFor(async () => {
          expect(await api.get(configMaps, { namespace: 'rotation', name: 'a-vmcp-backends' })).toBeUndefined();
        }, WAIT);
        const inline = await team.deployment();
        expect(JSON.stringify(inline.spec.template)).toContain('secretKeyRef');
        await secret('rotation', 's3cr3t-3');
        const checksumOf = async () => (await team.deployment()).spec.template.metadata?.annotations;
        await vi.waitFor(async () => {
          expect(await checksumOf()).not.toEqual(inline.spec.template.metadata?.annotations);
        }, WAIT);
        const config = await api.get(configMaps, { namespace: 'rotation', name: 'a-vmcp-config' });
        expect(JSON.stringify([config, await team.deployment()])).not.toContain('s3cr3t');
      },
      LIMIT_MS,
    );

    proves(
      [
        'vmcp.status.phase',
        'vmcp.status.message',
        'vmcp.status.url',
        'vmcp.status.backend-count',
        'vmcp.status.backend-count-excludes',
        'vmcp.status.observed-generation',
        'vmcp.status.conditions',
        'vmcp.state.phase-initial',
        'vmcp.condition.last-transition-time',
        'vmcp.condition.observed-generation',
      ],
      'the status is made of the reports of ready pods: Pending, Ready, Degraded, and Failed while old pods serve',
      async () => {
        const namespace = 'phases';
        const team = await start(namespace);
        await team.put('MCPServerEntry', 'docs', {
          groupRef: { name: 'tools' },
          remoteUrl: 'https://docs.example.com/mcp',
          transport: 'streamable-http',
        });
        const phase = (wanted: string) =>
          vi.waitFor(async () => expect((await team.server()).status?.phase).toBe(wanted), WAIT);
        await phase('Pending');
        const pod = await vi.waitFor(async () => {
          const { items } = await api.list(pods, { namespace });
          expect(items).toHaveLength(1);
          return items[0] as KubeObject;
        }, WAIT);
        const { name } = pod.metadata;
        const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
        await api.patch(pods, { namespace, name }, { status: { conditions: [condition] } }, { subresource: 'status' });
        const checksum = pod.metadata.annotations?.['toolmgr.dev/config-checksum'] ?? '';
        const report = (...states: PodReport['backends'][number]['status'][]): Promise<unknown> => {
          const backends = states.map((status, at) => ({
            name: ['docs', 'search'][at],
            status,
            consecutiveFailures: 0,
          }));
          const text = JSON.stringify({ configChecksum: checksum, reportedAt: new Date().toISOString(), backends });
          const annotations = { [reportAnnotation(name)]: shortHash(states.join()) };
          const metadata = { namespace, name: 'a-vmcp-report', annotations };
          const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [name]: text } };
          return api.apply(configMaps, body, { manager: name, force: true });
        };
        await report('ready', 'unauthenticated');
        await phase('Ready');
        const ready = await team.server();
        expect(ready.status).toMatchObject({
          url: 'http://vmcp-a.phases.svc.cluster.local:4483',
          mcpUrl: 'http://vmcp-a.phases.svc.cluster.local:4483/mcp',
          backendCount: 2,
          observedGeneration: 1,
          message: expect.stringContaining('backends that answer: 2 of 2'),
          discoveredBackends: [
            { name: 'docs', status: 'ready', url: 'https://docs.example.com/mcp' },
            { name: 'search', status: 'unauthenticated', authConfigRef: 'header' },
          ],
        });
        expect(await cluster.kubectl(['-n', namespace, 'get', 'vmcp', 'a'])).toMatch(
          /a\s+Ready\s+http\S+\s+2\s+\S+\s+True/,
        );
        const readySince = transitionOf(ready, 'Ready');

        await report('unavailable', 'ready');
        await phase('Degraded');
        const degraded = await team.server();
        expect(degraded.status).toMatchObject({ backendCount: 1 });
        expect(transitionOf(degraded, 'Ready')).toBe(readySince);
        await report('unavailable', 'unknown');
        await vi.waitFor(async () => expect((await team.server()).status?.backendCount).toBe(0), WAIT);

        await report('ready', 'ready');
        await phase('Ready');
        const { generation } = (await team.deployment()).metadata;
        await team.put('VirtualMCPServer', 'a', {
          ...SERVER,
          incomingAuth: { type: 'oidc', oidcConfigRef: { name: 'missing', audience: 'x' } },
        });
        await phase('Failed');
        const failed = await team.server();
        expect(failed.status).toMatchObject({ observedGeneration: 2, backendCount: 2 });
        expect(failed.status?.message).toContain('keep serving');
        expect(failed.status?.conditions).toContainEqual(
          expect.objectContaining({ type: 'OIDCConfigRefValidated', status: 'False', observedGeneration: 2 }),
        );
        expect((await team.deployment()).metadata.generation).toBe(generation);
        const events = await cluster.kubectl(['-n', namespace, 'get', 'events', '-o', 'jsonpath={.items[*].reason}']);
        const created = events.split(' ').filter((reason) => CREATED.includes(reason));
        expect(created.sort()).toEqual(CREATED);
        expect(errors).toEqual([]);
      },
      LIMIT_MS,
    );

    it(
      'an audience of two servers stops the younger one, until the older one leaves it',
      async () => {
        const team = await start('audiences');
        await team.put('MCPOIDCConfig', 'idp', {
          type: 'inline',
          inline: { issuer: 'https://idp.example.com', clientId: 'c' },
        });
        const withAudience = (audience: string) => ({
          ...SERVER,
          incomingAuth: { type: 'oidc', oidcConfigRef: { name: 'idp', audience } },
        });
        await team.put('VirtualMCPServer', 'a', withAudience('x'));
        await team.put('VirtualMCPServer', 'b', withAudience('x'));
        const b = { namespace: 'audiences', name: 'b' };
        await vi.waitFor(async () => {
          const { phase, conditions = [] } = (await api.get(TYPE, b))?.status ?? {};
          expect(phase).toBe('Failed');
          const told = conditions.find(({ type }) => type === 'OIDCConfigRefValidated');
          expect(told).toMatchObject({
            status: 'False',
            reason: 'AudienceNotUnique',
            message: expect.stringContaining('VirtualMCPServer a'),
          });
        }, WAIT);
        expect(await api.get(deployments, b)).toBeUndefined();
        await vi.waitFor(async () => void (await team.deployment()), WAIT);
        await team.put('VirtualMCPServer', 'a', withAudience('y'));
        await vi.waitFor(async () => expect(await api.get(deployments, b)).toBeDefined(), WAIT);
      },
      LIMIT_MS,
    );

    it(
      'changes made after the API server was killed and its history removed are applied',
      async () => {
        const team = await start('outage');
        await vi.waitFor(async () => void (await team.deployment()), WAIT);
        await cluster.killApiServer();
        await cluster.startApiServer();
        await cluster.compact();
        await team.put('VirtualMCPServer', 'a', { ...SERVER, replicas: 3 });
        await vi.waitFor(async () => expect((await team.deployment()).spec.replicas).toBe(3), WAIT);
      },
      LIMIT_MS,
    );
  },
);

const CREATED = ['DeploymentCreated', 'ServiceCreated'];
const SERVER = { groupRef: { name: 'tools' }, incomingAuth: { type: 'anonymous' } };

function manifest(kind: string, namespace: string, name: string, spec: object): string {
  return JSON.stringify({ apiVersion: TYPE.apiVersion, kind, metadata: { namespace, name }, spec });
}

function transitionOf({ status }: VirtualMcpServer, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.lastTransitionTime;
}
