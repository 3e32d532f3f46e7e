import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackendsDocument } from '@toolmgr/plugins/kit/kubernetes';
import { stringify } from 'yaml';
import { type PodReport, podReport } from '../../hosts/vmcp/pod-report.ts';
import { type RunningCli, startCli } from './cli.ts';
import { connectionTo } from './kube-api.ts';
import type { KubeClient } from './kube-client.ts';
import { vmcpConfig } from './vmcp-file.ts';

/** A namespace with what the operator makes for the pods of one VirtualMCPServer `tools`. */
export interface PodRig extends AsyncDisposable {
  readonly namespace: string;
  /** Token of the service account, whose Role is the one that the operator makes. */
  readonly token: string;
  /** Writes `backends.json`; the checksum is new each time. */
  publish(backends: BackendsDocument['backends'], secrets?: BackendsDocument['secrets']): Promise<string>;
  /** Replaces the text of `backends.json`. */
  publishText(text: string): Promise<void>;
  writeSecret(name: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** The reports of all pods by pod name. */
  reports(): Promise<Readonly<Record<string, PodReport>>>;
  /** Starts `toolmgr vmcp serve` with the environment of a pod. `more`: sections of the file. */
  start(name: string, more?: object, env?: Readonly<Record<string, string>>): Promise<RunningCli>;
}

/** Makes one. `secretNames`: the secrets that the Role names. */
export async function podRig(cluster: KubeClient, secretNames: readonly string[] = []): Promise<PodRig> {
  const namespace = `pods-${randomBytes(4).toString('hex')}`;
  const core = `/api/v1/namespaces/${namespace}`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const post = async (path: string, body: object): Promise<unknown> => {
    const answer = await cluster.request('POST', path, body);
    if (answer.status > 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const metadata = { name: 'tools-vmcp' };
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await post(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const may = (resource: string, resourceNames: readonly string[], ...verbs: readonly string[]) =>
    resourceNames.length === 0 ? [] : [{ apiGroups: [''], resources: [resource], resourceNames, verbs }];
  await post(`${rbac}/roles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata,
    rules: [
      ...may('configmaps', ['tools-vmcp-backends'], 'get', 'list', 'watch'),
      ...may('configmaps', ['tools-vmcp-report'], 'get', 'patch'),
      ...may('secrets', secretNames, 'get'),
    ],
  });
  await post(`${rbac}/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: metadata.name, namespace }],
  });
  const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  await post(`${core}/configmaps`, configMap('tools-vmcp-report'));
  const { status } = (await post(`${core}/serviceaccounts/tools-vmcp/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })) as { readonly status: { readonly token: string } };
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-pod-'));
  const account = join(folder, 'serviceaccount');
  const { tls } = await connectionTo(cluster).credentials();
  await mkdir(account);
  await Promise.all([
    writeFile(join(account, 'token'), status.token, { mode: 0o600 }),
    writeFile(join(account, 'ca.crt'), tls.ca ?? ''),
    writeFile(join(account, 'namespace'), namespace),
  ]);
  const { hostname, port } = new URL(cluster.server);
  const apply = async (object: {
    readonly kind: string;
    readonly metadata: { readonly name: string };
  }): Promise<void> => {
    const plural = object.kind === 'Secret' ? 'secrets' : 'configmaps';
    const path = `${core}/${plural}/${object.metadata.name}?fieldManager=operator&force=true`;
    const answer = await cluster.request('PATCH', path, object, 'application/apply-patch+yaml');
    if (answer.status > 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  };
  const publishText = (text: string): Promise<void> =>
    apply({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tools-vmcp-backends' } },
      ...{ data: { 'backends.json': text } },
    });
  return {
    namespace,
    token: status.token,
    publishText,
    async publish(backends, secrets = {}) {
      const checksum = randomBytes(8).toString('hex');
      await publishText(JSON.stringify({ checksum, backends, secrets } satisfies BackendsDocument));
      return checksum;
    },
    async writeSecret(name, stringData) {
      const data = Object.fromEntries(
        Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      );
      await apply({ ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name } }, ...{ data } });
    },
    async reports() {
      const { body } = await cluster.request('GET', `${core}/configmaps/tools-vmcp-report`);
      const { data = {} } = body as { readonly data?: Readonly<Record<string, string>> };
      return Object.fromEntries(Object.entries(data).map(([pod, text]) => [pod, podReport.parse(JSON.parse(text))]));
    },
    async start(name, more = {}, env = {}) {
      const { backends: _, ...config } = vmcpConfig({}, { outgoingAuth: { source: 'discovered' } });
      const section = { backends: 'tools-vmcp-backends', report: 'tools-vmcp-report', serviceAccount: account };
      const file = join(folder, `${name}.yaml`);
      await writeFile(file, stringify({ ...config, kubernetes: section, ...more }));
      return startCli(['vmcp', 'serve', '-c', file, '--port', '0'], {
        env: {
          KUBERNETES_SERVICE_HOST: hostname,
          KUBERNETES_SERVICE_PORT: port,
          POD_NAME: name,
          TOOLMGR_CONFIG_CHECKSUM: `checksum-of-${name}`,
          ...env,
        },
      });
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}
