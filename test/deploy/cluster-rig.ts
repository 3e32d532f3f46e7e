import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from '../../scripts/rigs/run-tool.ts';
import { copyProgram } from '../support/container-engine.ts';
import { writeImageArchive } from '../support/image-archive.ts';
import { type KubeNode, startKubeNode } from '../support/kube-node.ts';
import { PRODUCT_IMAGE, productImage } from '../support/product-image.ts';
import { rig } from '../support/rig.ts';
import { until } from '../support/until.ts';

const CHARTS = join(import.meta.dirname, '../../deploy/charts');

/** Calls `helm` with the connection of a cluster. */
export function helmFor(node: KubeNode): (...args: readonly string[]) => Promise<string> {
  const found = rig('helm');
  if ('missing' in found) throw new Error(found.missing);
  return (...args) => runTool(join(found.folder, 'helm'), [...args, '--kubeconfig', node.cluster.kubeconfig]);
}

/** Starts a cluster with a node and the image of the product, and installs both charts. */
export async function installedCluster(): Promise<KubeNode> {
  const archive = await productImage();
  const node = await startKubeNode();
  try {
    await node.load(archive);
    await node.loadServer();
    const helm = helmFor(node);
    await helm('install', 'toolmgr-crds', join(CHARTS, 'toolmgr-crds'));
    const [repository = '', tag = ''] = PRODUCT_IMAGE.split(/:(?=[^:]*$)/);
    const image = ['--set', `operator.image.repository=${repository}`, '--set-string', `operator.image.tag=${tag}`];
    const where = ['--namespace', 'toolmgr-system', '--create-namespace'];
    await helm('install', 'toolmgr', join(CHARTS, 'toolmgr'), ...where, ...image);
    await rolledOut(node, 'toolmgr-system', 'deployment/toolmgr');
    return node;
  } catch (cause) {
    const why = await node.explain('toolmgr-system').catch(() => '');
    await node[Symbol.asyncDispose]();
    throw new Error(`the cluster was not installed\n${why}`, { cause });
  }
}

/** Waits until a workload is rolled out. @throws Error with pods, events and logs of the namespace */
export async function rolledOut(node: KubeNode, namespace: string, workload: string): Promise<void> {
  try {
    await until(() => exists(node, namespace, workload), 60_000);
    await node.cluster.kubectl(['--namespace', namespace, 'rollout', 'status', workload, '--timeout=180s']);
  } catch (cause) {
    throw new Error(await node.explain(namespace), { cause });
  }
}

/** Whether the API server has a workload, such as `deployment/tools`. */
async function exists(node: KubeNode, namespace: string, workload: string): Promise<boolean> {
  const [kind, name] = workload.split('/');
  return (
    (await later(() => node.cluster.request('GET', `/apis/apps/v1/namespaces/${namespace}/${kind}s/${name}`)))
      .status === 200
  );
}

/** A pause leaves the processor to the pods. */
export async function later<T>(ask: () => Promise<T>): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  return ask();
}

/** Waits for a phase. @throws Error with the status, and pods, events and logs of the namespace */
export async function hasPhase(node: KubeNode, namespace: string, name: string, phase: string): Promise<void> {
  const statusNow = (): Promise<{ readonly phase?: string }> => later(() => statusOf(node, namespace, name));
  try {
    await until(async () => (await statusNow()).phase === phase, 180_000);
  } catch (cause) {
    const operator = await node.cluster.kubectl(['--namespace', 'toolmgr-system', 'logs', 'deployment/toolmgr']);
    const parts = [JSON.stringify(await statusNow()), operator.slice(-4_000), await node.explain(namespace)];
    throw new Error(`${name} is not ${phase}\n${parts.join('\n')}`, { cause });
  }
}

interface ServerStatus {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
}

/** The status of a VirtualMCPServer. */
export async function statusOf(node: KubeNode, namespace: string, name: string): Promise<ServerStatus> {
  const path = `/apis/toolmgr.dev/v1beta1/namespaces/${namespace}/virtualmcpservers/${name}`;
  const { body } = await node.cluster.request('GET', path);
  return (body as { readonly status?: ServerStatus }).status ?? {};
}

/** Names of the pods of a VirtualMCPServer, also of those that end. */
export async function podsOf(node: KubeNode, namespace: string, name: string): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app.kubernetes.io/instance%3D${name}`;
  const { body } = await later(() => node.cluster.request('GET', path));
  return (body as { readonly items: readonly { readonly metadata: { readonly name: string } }[] }).items.map(
    ({ metadata }) => metadata.name,
  );
}

/** Address and port of a service, which this machine reaches. */
export async function addressOf(node: KubeNode, namespace: string, service: string): Promise<string> {
  const path = '--output=jsonpath={.spec.clusterIP}:{.spec.ports[0].port}';
  return node.cluster.kubectl(['--namespace', namespace, 'get', 'service', service, path]);
}

const REDIS_IMAGE = 'localhost/toolmgr-test/redis:1';

/** Loads an image with the Redis server of this machine. */
export async function loadRedis(node: KubeNode): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-redis-image-'));
  try {
    await mkdir(join(folder, 'root/bin'), { recursive: true });
    await mkdir(join(folder, 'root/tmp'));
    await copyProgram((await runTool('which', ['redis-server'])).trim(), join(folder, 'root'), 'bin/redis-server');
    await node.load(
      await writeImageArchive(
        REDIS_IMAGE,
        join(folder, 'root'),
        { Entrypoint: ['/bin/redis-server'], WorkingDir: '/tmp' },
        folder,
      ),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const labels = { app: 'redis' };

/** A Redis with a password, its Service and the Secret. */
export const REDIS = [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'redis' }, stringData: { password: 'password-of-a-test' } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'redis' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'redis',
              image: REDIS_IMAGE,
              args: ['--bind', '0.0.0.0', '--requirepass', 'password-of-a-test', '--save', ''],
              readinessProbe: { tcpSocket: { port: 6379 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'redis' },
    spec: { selector: labels, ports: [{ port: 6379 }] },
  },
]
  .map((object) => JSON.stringify(object))
  .join('\n---\n');
