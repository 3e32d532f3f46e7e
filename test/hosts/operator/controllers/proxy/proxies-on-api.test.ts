import type { KubeObject, Resource, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { readRunConfig } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpServerPart } from '../../../../../hosts/operator/controllers/mcp-server/part.ts';
import { remoteProxyPart } from '../../../../../hosts/operator/controllers/remote-proxy/part.ts';
import { typeOfKind } from '../../../../../hosts/operator/kinds/kind.ts';
import { mcpRemoteProxy } from '../../../../../hosts/operator/kinds/mcp-remote-proxy.ts';
import { mcpServer } from '../../../../../hosts/operator/kinds/mcp-server.ts';
import {
  configMaps,
  deployments,
  networkPolicies,
  pods,
  roles,
  services,
  statefulSets,
} from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import { allCrds } from '../../../../support/crds.ts';
import { type KubeCluster, missingKube, startKube } from '../../../../support/kube.ts';
import { apiOf } from '../../../../support/kube-api.ts';
import { type RunningControllers, runControllers } from '../../../../support/running-controllers.ts';
import { until } from '../../../../support/until.ts';

const missing = missingKube();
const LONG = 180_000;
const SERVERS = typeOfKind(mcpServer) as ResourceType<Resource>;
const PROXIES = typeOfKind(mcpRemoteProxy) as ResourceType<Resource>;
const API = 'toolmgr.dev/v1beta1';

interface Status {
  readonly phase?: string;
  readonly message?: string;
  readonly url?: string;
  readonly readyReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly { type: string; status: string; reason: string; message: string }[];
  readonly [field: string]: unknown;
}

describe.skipIf(missing)(`proxies on a real API server${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  let cluster: KubeCluster;
  let running: RunningControllers;
  let api: ReturnType<typeof apiOf>;

  beforeAll(async () => {
    cluster = await startKube({ crds: allCrds() });
    api = apiOf(cluster);
    const settings = {
      namespaces: [],
      namespace: 'x',
      identity: 'test',
      image: 'toolmgr:test',
      isOpenShift: false,
      imagePullSecrets: ['pull'],
    };
    running = await runControllers(cluster, [mcpServerPart(settings), remoteProxyPart(settings)]);
  }, LONG);
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  }, LONG);

  let spaces = 0;
  const namespaceOf = async (): Promise<string> => {
    const name = `proxies-${++spaces}`;
    await cluster.createNamespace(name);
    return name;
  };
  const apply = (...objects: readonly object[]): Promise<string> =>
    cluster.kubectl(['apply', '--server-side'], objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  const read = async <T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): Promise<T> => {
    const found = await api.get(type, { namespace, name });
    if (found === undefined) throw new Error(`there is no ${type.kind} ${name}`);
    return found;
  };
  const statusOf = async (type: ResourceType<Resource>, namespace: string, name = 'tools'): Promise<Status> =>
    ((await api.get(type, { namespace, name }))?.status ?? {}) as Status;
  /** Waits until the status is of the current generation and true for the check. */
  const settled = async (
    type: ResourceType<Resource>,
    namespace: string,
    is: (status: Status) => boolean,
    name = 'tools',
  ): Promise<Status> => {
    let last: Status = {};
    try {
      await until(async () => {
        const object = await api.get(type, { namespace, name });
        last = (object?.status ?? {}) as Status;
        return last.observedGeneration === object?.metadata.generation && is(last);
      }, 60_000);
    } catch (cause) {
      throw new Error(`${JSON.stringify(last, undefined, 1)}\n${running.lines.slice(-10).join('\n')}`, { cause });
    }
    return last;
  };
  const conditionOf = ({ conditions = [] }: Status, type: string) => conditions.find((each) => each.type === type);
  const runConfigOf = async (namespace: string, name = 'tools'): Promise<Record<string, unknown>> => {
    const { data } = await read(configMaps, namespace, `${name}-runconfig`);
    const config = JSON.parse(data?.['runconfig.json'] ?? '') as Record<string, unknown>;
    expect(readRunConfig(config)).toHaveProperty('config');
    return config;
  };
  const server = (namespace: string, spec: object, name = 'tools'): object => ({
    ...{ apiVersion: API, kind: 'MCPServer', metadata: { name, namespace } },
    spec: { image: 'example.com/server:1', ...spec },
  });
  const secret = (namespace: string, name: string, stringData: object): object => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData },
  });
  /** What a kubelet would say of the pods of a part. */
  const makeReady = async (namespace: string, part: string, isReady = true): Promise<void> => {
    const podsPath = `/api/v1/namespaces/${namespace}/pods`;
    let names: readonly string[] = [];
    await until(async () => {
      const { items } = await api.list(pods, { namespace, labelSelector: `app.kubernetes.io/component=${part}` });
      names = items.map(({ metadata }) => metadata.name);
      return names.length > 0;
    }, 30_000);
    const container = part === 'proxy' ? 'toolmgr' : 'mcp';
    const status = {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      containerStatuses: [
        {
          ...{ name: container, ready: isReady, restartCount: 0, image: 'x', imageID: 'x' },
          state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        },
      ],
    };
    for (const name of names) {
      const merged = await cluster.request(
        'PATCH',
        `${podsPath}/${name}/status`,
        { status },
        'application/merge-patch+json',
      );
      expect(merged.status).toBe(200);
    }
  };

  it(
    'a stdio server of three lines runs in a StatefulSet, and its proxy may do nothing but attach to its pod',
    async () => {
      const namespace = await namespaceOf();
      await apply(server(namespace, {}));
      await settled(SERVERS, namespace, ({ phase }) => phase === 'Pending');
      expect(await runConfigOf(namespace)).toEqual({
        ...{ schema_version: 'v0.1.0', name: 'tools', host: '0.0.0.0', port: 8080, transport: 'stdio' },
        pod: { namespace, name: 'tools-0', container: 'mcp' },
      });
      const { spec: set } = await read(statefulSets, namespace, 'tools');
      expect(set).toMatchObject({ replicas: 1, template: { spec: { automountServiceAccountToken: false } } });
      expect(set.template.spec.containers[0]).toMatchObject({
        image: 'example.com/server:1',
        stdin: true,
        stdinOnce: true,
      });
      const { spec: deployment } = await read(deployments, namespace, 'tools');
      expect(deployment).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
      expect(deployment.template.spec).toMatchObject({
        automountServiceAccountToken: true,
        imagePullSecrets: [{ name: 'pull' }],
        serviceAccountName: 'tools-proxy-runner',
      });
      expect((await read(roles, namespace, 'tools-proxy-runner')).rules).toEqual([
        { apiGroups: [''], resources: ['pods'], resourceNames: ['tools-0'], verbs: ['get', 'delete'] },
        { apiGroups: [''], resources: ['pods/attach'], resourceNames: ['tools-0'], verbs: ['create', 'get'] },
      ]);
      expect((await read(networkPolicies, namespace, 'tools-mcp')).spec).toEqual({
        podSelector: expect.anything(),
        policyTypes: ['Ingress'],
      });
      await makeReady(namespace, 'proxy', false);
      const waiting = await settled(
        SERVERS,
        namespace,
        ({ message }) => message?.includes('has not answered') === true,
      );
      expect(waiting.phase).toBe('Pending');
      await makeReady(namespace, 'proxy');
      const ready = await settled(SERVERS, namespace, ({ phase }) => phase === 'Ready');
      expect(ready).toMatchObject({
        readyReplicas: 1,
        url: `http://mcp-tools-proxy.${namespace}.svc.cluster.local:8080/mcp`,
      });
      expect(conditionOf(ready, 'Ready')).toMatchObject({ status: 'True', reason: 'DeploymentReady' });
      const events = await cluster.kubectl([
        'get',
        'events',
        '-n',
        namespace,
        '-o',
        'jsonpath={range .items[*]}{.involvedObject.kind} {.reason}{"\\n"}{end}',
      ]);
      expect(
        events
          .split('\n')
          .filter((line) => line.startsWith('MCPServer'))
          .sort(),
      ).toEqual(['MCPServer DeploymentCreated', 'MCPServer ServiceCreated', 'MCPServer StatefulSetCreated']);
    },
    LONG,
  );

  it(
    'nothing is written when nothing changed, and what others add stays',
    async () => {
      const namespace = await namespaceOf();
      await apply(server(namespace, { transport: 'streamable-http', permissionProfile: { name: 'none' } }));
      await settled(SERVERS, namespace, ({ phase }) => phase === 'Pending');
      await cluster.kubectl(['rollout', 'restart', 'deployment/tools', '-n', namespace]);
      await cluster.kubectl(['annotate', 'service', 'mcp-tools-proxy', '-n', namespace, 'cloud.example/neg=1']);
      await until(async () => (await statusOf(SERVERS, namespace)).phase !== undefined);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const before = running.writes.length;
      await cluster.kubectl(['label', 'mcpserver', 'tools', '-n', namespace, 'touched=1']);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(running.writes.slice(before)).toEqual([]);
      const { spec } = await read(deployments, namespace, 'tools');
      expect(Object.keys(spec.template.metadata?.annotations ?? {})).toContain('kubectl.kubernetes.io/restartedAt');
      // what the operator owns comes back
      await cluster.kubectl([
        'patch',
        'networkpolicy',
        'tools-mcp',
        '-n',
        namespace,
        '--type=merge',
        '-p',
        '{"spec":{"egress":[{}]}}',
      ]);
      await until(async () => {
        const { spec: policy } = await read(networkPolicies, namespace, 'tools-mcp');
        return policy.policyTypes.length === 2 && (policy.egress ?? []).length === 0;
      }, 30_000);
    },
    LONG,
  );

  it(
    'a server over HTTP has every option that its configurations name',
    async () => {
      const namespace = await namespaceOf();
      const of = (kind: string, name: string, spec: object): object => ({
        ...{ apiVersion: API, kind, metadata: { name, namespace }, spec },
      });
      await apply(
        secret(namespace, 'keys', { api: 'sesame', otel: 'o' }),
        of('MCPOIDCConfig', 'corp', { type: 'inline', inline: { issuer: 'https://id.example' } }),
        of('MCPAuthzConfig', 'rules', {
          type: 'cedarv1',
          config: { policies: ['permit(principal, action, resource);'], group_claim_name: 'teams' },
        }),
        of('MCPToolConfig', 'few', { toolsFilter: ['again'], toolsOverride: { echo: { name: 'again' } } }),
        of('MCPExternalAuthConfig', 'key', {
          type: 'headerInjection',
          headerInjection: { headerName: 'X-Key', valueSecretRef: { name: 'keys', key: 'api' } },
        }),
        of('MCPTelemetryConfig', 'otel', {
          openTelemetry: {
            ...{ enabled: true, endpoint: 'collector:4318', insecure: true, tracing: { enabled: true } },
            sensitiveHeaders: [{ name: 'x-key', secretKeyRef: { name: 'keys', key: 'otel' } }],
          },
        }),
        server(namespace, {
          ...{
            transport: 'streamable-http',
            proxyPort: 9000,
            mcpPort: 3000,
            args: ['--fast'],
            replicas: 2,
            backendReplicas: 3,
          },
          env: [{ name: 'LEVEL', value: 'debug' }],
          secrets: [{ name: 'keys', key: 'api', targetEnvName: 'API_KEY' }],
          oidcConfigRef: { name: 'corp', audience: 'tools' },
          authzConfigRef: { name: 'rules' },
          audit: { enabled: true },
          toolConfigRef: { name: 'few' },
          externalAuthConfigRef: { name: 'key' },
          telemetryConfigRef: { name: 'otel' },
          sessionStorage: { provider: 'redis', address: 'redis:6379', passwordRef: { name: 'keys', key: 'api' } },
          rateLimiting: { shared: { maxTokens: 10, refillPeriod: '1m' } },
          resources: { limits: { memory: '64Mi' } },
          podTemplateSpec: {
            spec: { nodeSelector: { disk: 'ssd' }, containers: [{ name: 'mcp', workingDir: '/data' }] },
          },
          resourceOverrides: {
            proxyDeployment: { labels: { team: 'a' }, env: [{ name: 'TZ', value: 'UTC' }] },
            proxyService: { annotations: { 'cloud.example/lb': 'internal' } },
          },
        }),
      );
      const status = await settled(SERVERS, namespace, ({ phase }) => phase === 'Pending');
      const states = Object.fromEntries((status.conditions ?? []).map(({ type, status: is }) => [type, is]));
      expect(states).toEqual({
        ...{ AuthConfigured: 'True', AuthzConfigRefValidated: 'True', ConfigurationValid: 'True' },
        ...{ ExternalAuthConfigValidated: 'True', OIDCConfigRefValidated: 'True', PodTemplateValid: 'True' },
        ...{ RateLimitConfigValid: 'True', Ready: 'False', SecretsValidated: 'True', SessionStorageWarning: 'False' },
        ...{ TelemetryConfigRefValidated: 'True', ToolConfigValidated: 'True' },
      });
      for (const name of ['oidc', 'authz', 'externalAuth', 'telemetry', 'tool']) {
        expect(status[`${name}ConfigHash`]).toMatch(/^[0-9a-f]{64}$/);
      }
      await expect(
        `${JSON.stringify(await runConfigOf(namespace), undefined, 2).replaceAll(namespace, 'NAMESPACE')}\n`,
      ).toMatchFileSnapshot('../../../../golden/operator/mcp-server.runconfig.txt');
      const set = (await read(statefulSets, namespace, 'tools')).spec;
      expect(set.replicas).toBe(3);
      expect(set.template.spec).toMatchObject({ nodeSelector: { disk: 'ssd' } });
      const [container] = set.template.spec.containers;
      expect(container).toMatchObject({
        name: 'mcp',
        args: ['--fast'],
        workingDir: '/data',
        resources: { limits: { memory: '64Mi' } },
      });
      expect(container?.env).toEqual([
        { name: 'MCP_TRANSPORT', value: 'streamable-http' },
        { name: 'MCP_HOST', value: '0.0.0.0' },
        ...['MCP_PORT', 'FASTMCP_PORT', 'PORT'].map((name) => ({ name, value: '3000' })),
        { name: 'LEVEL', value: 'debug' },
        { name: 'API_KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'api' } } },
      ]);
      const deployment = await read(deployments, namespace, 'tools');
      expect(deployment.metadata.labels).toMatchObject({ team: 'a', 'toolmgr-name': 'tools' });
      expect(deployment.spec.template.spec.automountServiceAccountToken).toBe(false);
      const names = deployment.spec.template.spec.containers[0]?.env?.map(({ name }) => name);
      expect(names).toEqual([
        'TZ',
        'HOME',
        'TOOLMGR_HEADER_INJECTION_VALUE_KEY',
        'TOOLMGR_OTEL_HEADER_X_KEY',
        'TOOLMGR_SESSION_REDIS_PASSWORD',
      ]);
      expect((await read(services, namespace, 'mcp-tools-backends')).spec).toMatchObject({
        sessionAffinity: 'ClientIP',
      });
      expect((await read(services, namespace, 'mcp-tools-headless')).spec.clusterIP).toBe('None');
      expect(await api.get(roles, { namespace, name: 'tools-proxy-runner' })).toBeUndefined();
      expect(JSON.stringify(deployment) + JSON.stringify(set)).not.toContain('sesame');

      const checksum = ({ metadata }: { metadata?: { annotations?: Readonly<Record<string, string>> } }) =>
        metadata?.annotations?.['toolmgr.dev/config-checksum'];
      await apply(secret(namespace, 'keys', { api: 'changed', otel: 'o' }));
      await until(async () => {
        const [proxy, behind] = [
          await read(deployments, namespace, 'tools'),
          await read(statefulSets, namespace, 'tools'),
        ];
        return (
          checksum(proxy.spec.template) !== checksum(deployment.spec.template) &&
          checksum(behind.spec.template) !== checksum(set.template)
        );
      }, 30_000);
    },
    LONG,
  );

  it(
    'what cannot be carried out is refused with a condition, and running pods stay',
    async () => {
      const namespace = await namespaceOf();
      const names = { network: { outbound: { allow_host: ['api.example.com'] } } };
      await apply(
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'profiles', namespace },
          data: { web: JSON.stringify(names) },
        },
        server(namespace, {}),
      );
      await settled(SERVERS, namespace, ({ phase }) => phase === 'Pending');
      const before = (await read(statefulSets, namespace, 'tools')).metadata.generation;
      const profile = { permissionProfile: { type: 'configmap', name: 'profiles', key: 'web' } };
      await apply(server(namespace, profile));
      const refused = await settled(SERVERS, namespace, ({ phase }) => phase === 'Failed');
      expect(conditionOf(refused, 'PermissionProfileValid')).toMatchObject({
        status: 'False',
        reason: 'NotExpressible',
      });
      expect(refused.message).toContain('allow_host has names');
      const addresses = { network: { outbound: { allow_host: ['10.1.0.0/16'], allow_port: [443] } } };
      await cluster.kubectl([
        'patch',
        'configmap',
        'profiles',
        '-n',
        namespace,
        '--type=merge',
        '-p',
        JSON.stringify({ data: { web: JSON.stringify(addresses) } }),
      ]);
      await settled(SERVERS, namespace, ({ phase }) => phase === 'Pending');
      expect((await read(networkPolicies, namespace, 'tools-mcp')).spec.egress).toEqual([
        { to: [{ ipBlock: { cidr: '10.1.0.0/16' } }], ports: [{ port: 443, protocol: 'TCP' }] },
      ]);
      expect((await read(statefulSets, namespace, 'tools')).metadata.generation).toBe(before);

      const cases: readonly (readonly [object, string, RegExp])[] = [
        [{ endpointPrefix: '/team' }, 'ConfigurationValid', /endpoint_prefix/],
        [{ externalAuthConfigRef: { name: 'none' } }, 'ExternalAuthConfigValidated', /no MCPExternalAuthConfig none/],
        [
          { oidcConfigRef: { name: 'none', audience: 'x' } },
          'OIDCConfigRefValidated',
          /spec\.oidcConfigRef: there is no/,
        ],
        [{ secrets: [{ name: 'none', key: 'x' }] }, 'SecretsValidated', /spec\.secrets\[0\]: there is no secret none/],
        [
          { podTemplateSpec: { spec: { containers: 'x' } } },
          'PodTemplateValid',
          /spec\.podTemplateSpec: spec\.containers/,
        ],
        [{ authzConfig: { type: 'inline', inline: { policies: ['permit('] } } }, 'ConfigurationValid', /polic/],
      ];
      for (const [spec, condition, message] of cases) {
        await cluster.kubectl(['delete', 'mcpserver', 'tools', '-n', namespace]);
        await apply(server(namespace, spec));
        const failed = await settled(SERVERS, namespace, ({ phase }) => phase === 'Failed');
        expect(conditionOf(failed, condition), condition).toMatchObject({
          status: 'False',
          message: expect.stringMatching(message),
        });
      }
    },
    LONG,
  );

  it(
    'a stdio server runs once, whatever the number of replicas, and not with 0',
    async () => {
      const namespace = await namespaceOf();
      await apply(server(namespace, { replicas: 3, backendReplicas: 2, proxyMode: 'sse', endpointPrefix: '/team' }));
      const status = await settled(SERVERS, namespace, ({ phase }) => phase === 'Pending');
      expect(conditionOf(status, 'StdioReplicaCapped')).toMatchObject({
        status: 'True',
        message: expect.stringContaining('spec.replicas 3 and spec.backendReplicas 2'),
      });
      expect(status.url).toMatch(/:8080\/sse$/);
      expect((await read(deployments, namespace, 'tools')).spec.replicas).toBe(1);
      await apply(server(namespace, { replicas: 0 }));
      await settled(SERVERS, namespace, ({ phase }) => phase === 'Stopped');
      expect((await read(statefulSets, namespace, 'tools')).spec.replicas).toBe(0);
      await cluster.kubectl(['delete', 'mcpserver', 'tools', '-n', namespace]);
      await until(async () => (await api.get(statefulSets, { namespace, name: 'tools' })) === undefined, 60_000);
    },
    LONG,
  );

  it(
    'a remote server gets a proxy with headers and a CA; an address of the cluster is refused',
    async () => {
      const namespace = await namespaceOf();
      const ca = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
      const proxy = (spec: object): object => ({
        ...{ apiVersion: API, kind: 'MCPRemoteProxy', metadata: { name: 'tools', namespace } },
        spec: { remoteUrl: 'https://mcp.example.com/mcp', ...spec },
      });
      await apply(
        secret(namespace, 'keys', { api: 'sesame' }),
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ca', namespace }, data: { 'ca.crt': ca } },
        proxy({
          caBundleRef: { configMapRef: { name: 'ca' } },
          headerForward: {
            addPlaintextHeaders: { 'X-Team': 'a' },
            addHeadersFromSecret: [{ headerName: 'X-Key', valueSecretRef: { name: 'keys', key: 'api' } }],
          },
          podTemplateSpec: { spec: { containers: [{ name: 'toolmgr', resources: { limits: { memory: '1Gi' } } }] } },
        }),
      );
      await settled(PROXIES, namespace, ({ phase }) => phase === 'Pending');
      expect(await runConfigOf(namespace)).toMatchObject({
        remote_url: 'https://mcp.example.com/mcp',
        remote_addresses: 'public',
        header_forward: {
          add_plaintext_headers: { 'X-Team': 'a' },
          add_headers_from_secret: { 'X-Key': 'HEADER_X_KEY' },
        },
      });
      const { spec } = await read(deployments, namespace, 'tools');
      const [container] = spec.template.spec.containers;
      expect(container?.env).toEqual([
        { name: 'HOME', value: '/tmp' },
        { name: 'TOOLMGR_SECRET_HEADER_X_KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'api' } } },
        { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/toolmgr/remote-ca/ca.crt' },
      ]);
      expect(container).toMatchObject({ resources: { limits: { cpu: '500m', memory: '1Gi' } } });
      await makeReady(namespace, 'proxy');
      const ready = await settled(PROXIES, namespace, ({ phase }) => phase === 'Ready');
      expect(conditionOf(ready, 'RemoteAvailable')).toMatchObject({ status: 'True' });
      expect(ready.url).toBe(`http://mcp-tools-remote-proxy.${namespace}.svc.cluster.local:8080/mcp`);

      await apply(proxy({ remoteUrl: 'http://10.0.0.1/mcp' }));
      const refused = await settled(PROXIES, namespace, ({ phase }) => phase === 'Failed');
      expect(conditionOf(refused, 'ConfigurationValid')).toMatchObject({ reason: 'RemoteURLInvalid' });
      const told = await cluster.kubectl(['get', 'events', '-n', namespace, '-o', 'json']);
      const { items } = JSON.parse(told) as {
        items: { type: string; reason: string; involvedObject: { kind: string } }[];
      };
      const warnings = items.filter((each) => each.type === 'Warning' && each.involvedObject.kind === 'MCPRemoteProxy');
      expect(warnings.map(({ reason }) => reason)).toEqual(['RemoteURLInvalid']);
      await apply(proxy({ remoteUrl: 'http://10.0.0.1/mcp', allowPrivateEndpoint: true }));
      await settled(PROXIES, namespace, ({ phase }) => phase !== 'Failed');
      expect(await runConfigOf(namespace)).toMatchObject({ remote_addresses: 'network' });
    },
    LONG,
  );
});
