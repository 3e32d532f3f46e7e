import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOperator } from '../../hosts/operator/operator.ts';
import { type KubeCluster, missingKube, startKube } from '../support/kube.ts';
import { connectionTo } from '../support/kube-api.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const missing = missingKube();
const DEPLOY = join(import.meta.dirname, '../../deploy');
const ACCOUNT = 'system:serviceaccount:toolmgr-system:toolmgr';
const LONG = 300_000;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface AuditLine {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly responseStatus?: { readonly code: number };
  readonly objectRef?: { readonly apiGroup?: string; readonly resource: string; readonly subresource?: string };
}

interface Listed<T> {
  readonly items: readonly (T & { readonly metadata: { readonly ownerReferences?: readonly Owner[] } })[];
}

interface Owner {
  readonly kind: string;
  readonly blockOwnerDeletion?: boolean;
}

/** `GROUP/RESOURCE VERB` of each right. */
function rightsOf(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((name) => verbs.map((verb) => `${group}/${name} ${verb}`))),
  );
}

describe.skipIf(missing)(`The rights of the chart${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  const folder = temporaryFolderOfFile('rights');
  let cluster: KubeCluster;
  beforeAll(async () => {
    const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };
    await writeFile(join(folder, 'policy.json'), JSON.stringify(policy));
    const crds = await Promise.all(
      (await readdir(join(DEPLOY, 'crds'))).map((name) => readFile(join(DEPLOY, 'crds', name), 'utf8')),
    );
    cluster = await startKube({
      crds: crds.join('\n---\n'),
      apiServerFlags: [
        `--audit-policy-file=${join(folder, 'policy.json')}`,
        `--audit-log-path=${join(folder, 'audit.log')}`,
        // checks the right to set owner references that block deletion, as OpenShift does
        '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
      ],
    });
    for (const name of ['toolmgr-system', 'team']) await cluster.kubectl(['create', 'namespace', name]);
    await cluster.kubectl(['apply'], await readFile(join(DEPLOY, 'operator.yaml'), 'utf8'));
  }, LONG);
  afterAll(() => cluster?.[Symbol.asyncDispose](), LONG);

  const kubectl = (...args: readonly string[]) => cluster.kubectl(['--namespace', 'team', ...args]);
  const apply = (...objects: readonly object[]) =>
    cluster.kubectl(['--namespace', 'team', 'apply'], objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  const get = async <T>(path: string): Promise<T> => (await cluster.request('GET', path)).body as T;
  const requests = (): readonly AuditLine[] => {
    if (!existsSync(join(folder, 'audit.log'))) return [];
    const lines = readFileSync(join(folder, 'audit.log'), 'utf8').split('\n');
    return lines.flatMap((line) => {
      if (!line.endsWith('}')) return [];
      const parsed = JSON.parse(line) as AuditLine;
      return parsed.user.username === ACCOUNT ? [parsed] : [];
    });
  };
  /** `path`: below the namespace, with the API group before `:`. */
  const exists = async (path: string): Promise<boolean> => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [group = '', rest = ''] = path.includes(':') ? path.split(':') : ['api/v1', path];
    return (await cluster.request('GET', `/${group}/namespaces/team/${rest}`)).status === 200;
  };

  /** @throws Error with the objects, and with the requests that were refused */
  const explained = async (cause: unknown): Promise<never> => {
    const objects = await kubectl('get', 'toolmgr,deployments,statefulsets', '--output=yaml');
    const refused = requests().filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 400);
    const lines = refused.map(
      ({ verb, requestURI, responseStatus }) => `${responseStatus?.code} ${verb} ${requestURI}`,
    );
    throw new Error([...new Set(lines), objects.slice(0, 20_000)].join('\n'), { cause });
  };

  it('are enough for everything that the operator does, and none is without use', { timeout: LONG }, async () => {
    const token = (await cluster.kubectl(['create', 'token', 'toolmgr', '--namespace', 'toolmgr-system'])).trim();
    const silent = { info: () => {}, warn: () => {}, error: () => {} };
    await using operator = await startOperator({
      connection: connectionTo(cluster, token),
      settings: {
        ...{ namespaces: [], namespace: 'toolmgr-system', identity: 'one', leaseName: 'toolmgr' },
        ...{ image: 'localhost/none:1', imagePullSecrets: [], isOpenShift: false },
      },
      ...{ metrics: 'none', probes: 'none', leaderElect: true, concurrency: 4, log: silent },
    });
    await apply(...SHARED, ...MEMBERS, server({}));
    await until(() => exists('apis/apps/v1:deployments/tools'), 60_000).catch(explained);
    await until(() => exists('apis/apps/v1:statefulsets/stdio'), 60_000).catch(explained);
    await until(() => exists('apis/apps/v1:deployments/far'), 60_000);
    await until(
      async () =>
        (await exists('apis/apps/v1:statefulsets/vectors')) &&
        (await exists('apis/rbac.authorization.k8s.io/v1:rolebindings/tools-vmcp')),
      60_000,
    );
    const roles = await get<Listed<{ rules: readonly Rule[] }>>(
      '/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles',
    );
    const deployments = await get<Listed<object>>('/apis/apps/v1/namespaces/team/deployments');
    const statefulSets = await get<Listed<object>>('/apis/apps/v1/namespaces/team/statefulsets');

    // objects that are no longer wanted
    await apply(server({ serviceAccount: 'default', outgoingAuth: { source: 'inline' } }));
    await until(async () => !(await exists('apis/rbac.authorization.k8s.io/v1:rolebindings/tools-vmcp')), 60_000);
    await until(async () => !(await exists('configmaps/tools-vmcp-backends')), 60_000);
    await apply(member('MCPServer', 'web', { image: 'localhost/none:1', transport: 'stdio' }));
    await kubectl('delete', 'vmcp,mcpserver,mcpserverentry,mcpremoteproxy,embeddingserver', '--all');
    await kubectl('delete', 'mcpgroup,mcpoidc,authzcfg,extauth,mcpotel,toolconfig,vmcpctd', '--all', '--timeout=60s');
    await operator.stop();

    const all = requests();
    const used = new Set(
      all.flatMap(({ verb, objectRef, responseStatus }) => {
        const { apiGroup = '', resource = '', subresource } = objectRef ?? {};
        const what = `${apiGroup}/${resource}${subresource === undefined ? '' : `/${subresource}`}`;
        // an apply of a new object takes the right to create it as well
        return responseStatus?.code === 201 ? [`${what} ${verb}`, `${what} create`] : [`${what} ${verb}`];
      }),
    );
    const refused = all.filter(({ responseStatus }) => responseStatus?.code === 403);
    expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);

    const owners = [...deployments.items, ...statefulSets.items].flatMap(
      ({ metadata }) => metadata.ownerReferences ?? [],
    );
    const needed = new Set([
      ...used,
      // the API server lets an account grant only what it has
      ...roles.items.flatMap(({ rules }) => rightsOf(rules)),
      ...owners
        .filter(({ blockOwnerDeletion }) => blockOwnerDeletion)
        .map(({ kind }) => `toolmgr.dev/${kind.toLowerCase()}s/finalizers update`.replace('proxys', 'proxies')),
    ]);
    const granted = [
      ...rightsOf(
        (await get<{ rules: Rule[] }>('/apis/rbac.authorization.k8s.io/v1/clusterroles/toolmgr-system-toolmgr')).rules,
      ),
      ...rightsOf(
        (
          await get<{ rules: Rule[] }>(
            '/apis/rbac.authorization.k8s.io/v1/namespaces/toolmgr-system/roles/toolmgr-leader-election',
          )
        ).rules,
      ),
    ];
    expect(granted.filter((right) => !needed.has(right) && !AFTER_CONFLICTS.has(right))).toEqual([]);
  });
});

/** Rights for reading an object again after another writer was faster. */
const AFTER_CONFLICTS = new Set(
  ['mcpauthzconfigs', 'mcpexternalauthconfigs', 'mcpoidcconfigs', 'mcptelemetryconfigs', 'mcptoolconfigs'].map(
    (plural) => `toolmgr.dev/${plural} get`,
  ),
);

function config(kind: string, name: string, spec: object): object {
  return { apiVersion: 'toolmgr.dev/v1beta1', kind, metadata: { name }, spec };
}

function member(kind: string, name: string, spec: object): object {
  return config(kind, name, { groupRef: { name: 'team' }, ...spec });
}

function server(more: object): object {
  const spec = {
    ...{ groupRef: { name: 'team' }, incomingAuth: { type: 'anonymous' } },
    ...more,
  };
  return config('VirtualMCPServer', 'tools', spec);
}

const SHARED = [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { key: 'value' } },
  config('MCPGroup', 'team', {}),
  config('MCPOIDCConfig', 'people', { type: 'inline', inline: { issuer: 'https://id.example.com' } }),
  config('MCPAuthzConfig', 'policies', {
    type: 'cedarv1',
    config: { policies: ['permit(principal, action, resource);'], entities_json: '[]' },
  }),
  config('MCPExternalAuthConfig', 'header', {
    type: 'headerInjection',
    headerInjection: { headerName: 'X-Key', valueSecretRef: { name: 'key', key: 'key' } },
  }),
  config('MCPTelemetryConfig', 'telemetry', { prometheus: { enabled: true } }),
  config('MCPToolConfig', 'filter', { toolsFilter: ['echo'] }),
  config('VirtualMCPCompositeToolDefinition', 'twice', {
    name: 'twice',
    description: 'echoes',
    steps: [{ id: 'one', type: 'tool', tool: 'entry.echo', arguments: {} }],
  }),
  config('EmbeddingServer', 'vectors', {}),
];

const MEMBERS = [
  member('MCPServerEntry', 'entry', {
    remoteUrl: 'https://mcp.example.com/mcp',
    transport: 'streamable-http',
    externalAuthConfigRef: { name: 'header' },
  }),
  member('MCPServer', 'stdio', { image: 'localhost/none:1', transport: 'stdio' }),
  member('MCPServer', 'web', { image: 'localhost/none:1', transport: 'streamable-http' }),
  member('MCPRemoteProxy', 'far', { remoteUrl: 'https://mcp.example.com/mcp', transport: 'streamable-http' }),
];
