import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificates } from './certificates.ts';
import { buildServerRoot, SERVER_ENTRYPOINT, SERVER_IMAGE } from './container-engine.ts';
import { writeImageArchive } from './image-archive.ts';
import { type KubeCluster, type KubeOptions, missingKube, startKube } from './kube.ts';
import { kubeProgram } from './kube-client.ts';
import { createNodeNamespace, type NodeNamespace } from './kube-node-namespace.ts';
import { rig } from './rig.ts';
import { until } from './until.ts';

/**
 * A cluster with one node that runs real pods: containerd, kubelet, kube-proxy and CoreDNS. This machine reaches pods and
 * services by address. Names of services resolve in pods only.
 */
export interface KubeNode extends AsyncDisposable {
  readonly cluster: KubeCluster;
  /** Address of this machine, as pods see it; servers for pods listen there. */
  readonly hostAddress: string;
  /** Address ranges of pods and services. */
  readonly podRange: string;
  readonly serviceRange: string;
  /** Loads an image from an archive of Docker or OCI into the node. Pods need `imagePullPolicy: IfNotPresent` or `Never`. */
  load(archive: string): Promise<void>;
  /** Loads the image {@link SERVER_IMAGE} of the Everything server, which also has a shell. */
  loadServer(): Promise<void>;
  /** The last lines of the containers of a namespace and of its events, to explain a failed test. */
  explain(namespace: string): Promise<string>;
}

const PROGRAMS = [
  ...['containerd', 'ctr', 'runc', 'ip', 'iptables', 'unshare', 'nsenter', 'bash', 'pgrep'],
  '/usr/lib/cni/ptp',
];
const PAUSE = 'localhost/toolmgr-test/pause:1';
const READY_MS = 120_000; // 5 s on a quiet machine
const SHOWN = 3_000; // last characters of a log

/** Why no real pods can run here; `undefined` when they can. @throws Error in CI when a rig is missing */
export function missingKubeNode(): string | undefined {
  const coredns = rig('coredns');
  const missing = missingKube() ?? ('missing' in coredns ? coredns.missing : undefined);
  if (missing !== undefined || process.env.CI !== undefined) return missing;
  if (process.getuid?.() !== 0) return 'real pods of the tests need root';
  const absent = PROGRAMS.filter((program) => spawnSync('which', [program]).status !== 0);
  if (absent.length > 0) {
    return `no ${absent.join(', ')} (Debian: apt-get install containerd runc containernetworking-plugins iptables)`;
  }
  if (busybox() === undefined) return 'no busybox (Debian: apt-get install busybox-static)';
  const mayMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
  return mayMount ? undefined : 'this machine forbids containers (no mount in a new namespace)';
}

/** Starts a cluster with a node; 10 s when quiet. @throws Error with the log of the program that failed */
export async function startKubeNode(options: Omit<KubeOptions, 'host'> = {}): Promise<KubeNode> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-node-'));
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const namespace = await createNodeNamespace();
  const { hostAddress, podRange, serviceRange } = namespace;
  const client = await writeClientCertificate(folder);
  const cluster = await startKube({
    ...options,
    host: hostAddress,
    apiServerFlags: [
      `--bind-address=${hostAddress}`,
      `--service-cluster-ip-range=${serviceRange}`,
      `--kubelet-client-certificate=${client.cert}`,
      '--kubelet-preferred-address-types=InternalIP',
      `--kubelet-client-key=${client.key}`,
      ...(options.apiServerFlags ?? []),
    ],
  }).catch(async (cause) => {
    await namespace[Symbol.asyncDispose]();
    throw cause;
  });
  // the namespaces end first, so that no kubelet reports containers that are ending
  started.use(cluster);
  started.use(namespace);
  const children = new Map<string, ChildProcess>();
  const run = (name: string, program: string, args: readonly string[]): void => {
    children.set(name, namespace.start(join(folder, `${name}.log`), program, args));
  };
  const waitFor = async (what: string, isReady: () => Promise<boolean>): Promise<void> => {
    const ended = (): string | undefined => [...children].find(([, child]) => child.exitCode !== null)?.[0];
    const failure = async (name: string, cause?: unknown): Promise<Error> => {
      const log = await readFile(join(folder, `${name}.log`), 'utf8').catch(() => '');
      return new Error(`${what}: ${name} did not start\n${log.slice(-SHOWN)}`, { cause });
    };
    await until(async () => ended() !== undefined || (await isReady()), READY_MS).catch(async (cause) => {
      throw await failure('kubelet', cause);
    });
    const dead = ended();
    if (dead !== undefined) throw await failure(dead);
  };

  const socket = join(folder, 'containerd.sock');
  await mkdir(join(folder, 'cni'));
  await writeFile(join(folder, 'containerd.toml'), containerdConfig(folder, socket));
  await writeFile(join(folder, 'cni/10-pods.conflist'), JSON.stringify(podNetwork(podRange)));
  run('containerd', 'containerd', ['--config', join(folder, 'containerd.toml')]);
  const ctr = (...args: readonly string[]): Promise<string> =>
    namespace.run('ctr', ['--address', socket, '--namespace', 'k8s.io', ...args]);
  const load = async (archive: string): Promise<void> => void (await ctr('images', 'import', '--no-unpack', archive));
  await waitFor('containers', () =>
    ctr('version').then(
      () => true,
      () => false,
    ),
  );
  await load(await pauseImage(join(folder, 'pause')));

  await writeFile(join(folder, 'kubelet.json'), JSON.stringify(kubeletConfig(folder, socket, client.ca, namespace)));
  await writeFile(join(folder, 'Corefile'), nameServerConfig(cluster, namespace));
  const connection = `--kubeconfig=${cluster.kubeconfig}`;
  const named = [`--node-ip=${namespace.nodeAddress}`, '--hostname-override=node'];
  const kubeletFlags = [`--config=${join(folder, 'kubelet.json')}`, `--root-dir=${join(folder, 'kubelet')}`, ...named];
  run('kubelet', kubeProgram(), ['kubelet', connection, ...kubeletFlags]);
  run('kube-proxy', kubeProgram(), [
    ...['kube-proxy', connection, '--proxy-mode=iptables', '--hostname-override=node', `--cluster-cidr=${podRange}`],
    ...[
      '--conntrack-max-per-core=0',
      '--conntrack-tcp-timeout-established=0s',
      '--conntrack-tcp-timeout-close-wait=0s',
    ],
    ...['--iptables-min-sync-period=100ms'],
  ]);
  run('coredns', join(folderOf('coredns'), 'coredns'), ['-conf', join(folder, 'Corefile')]);
  await waitFor('the node', async () => {
    const { body } = await cluster.request('GET', '/api/v1/nodes/node');
    const conditions = (body as { status?: { conditions?: { type: string; status: string }[] } }).status?.conditions;
    return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  });
  const all = started.move();
  return {
    ...{ cluster, hostAddress, podRange, serviceRange, load },
    async loadServer() {
      const parts = await mkdtemp(join(folder, 'server-'));
      await buildServerRoot(join(parts, 'root'));
      await load(await writeImageArchive(SERVER_IMAGE, join(parts, 'root'), { Entrypoint: SERVER_ENTRYPOINT }, parts));
      await rm(parts, { recursive: true, force: true });
    },
    explain: (name) => explain(cluster, name),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function writeClientCertificate(folder: string): Promise<{ ca: string; cert: string; key: string }> {
  const made = certificates();
  const paths = { ca: join(folder, 'ca.crt'), cert: join(folder, 'client.crt'), key: join(folder, 'client.key') };
  await writeFile(paths.ca, made.ca);
  await writeFile(paths.cert, made.cert);
  await writeFile(paths.key, made.key, { mode: 0o600 });
  return paths;
}

function containerdConfig(folder: string, socket: string): string {
  return [
    'version = 2',
    `root = "${join(folder, 'containers')}"`,
    'state = "/run/containerd"',
    `[grpc]\naddress = "${socket}"`,
    `[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "${PAUSE}"\nrestrict_oom_score_adj = true`,
    `[plugins."io.containerd.grpc.v1.cri".cni]\nbin_dir = "/usr/lib/cni"\nconf_dir = "${join(folder, 'cni')}"`,
  ].join('\n');
}

/** Each pod has a routed link of its own: between two pods of a bridge the kernel skips the rules of services. */
function podNetwork(podRange: string): object {
  const ipam = { type: 'host-local', ranges: [[{ subnet: podRange }]], routes: [{ dst: '0.0.0.0/0' }] };
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      { type: 'ptp', ipMasq: false, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function kubeletConfig(folder: string, socket: string, clientCa: string, namespace: NodeNamespace): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: namespace.nodeAddress,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false }, x509: { clientCAFile: clientCa } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: namespace.cgroup,
    clusterDNS: [namespace.nodeAddress],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: `unix://${socket}`,
    enforceNodeAllocatable: [],
    evictionHard: { 'memory.available': '1Mi', 'nodefs.available': '0%', 'imagefs.available': '0%' },
    failCgroupV1: false,
    failSwapOn: false,
    healthzPort: 0,
    imageGCHighThresholdPercent: 100,
    localStorageCapacityIsolation: false,
    podLogsDir: join(folder, 'logs'),
    registerWithTaints: [],
    resolvConf: '',
    syncFrequency: '5s', // config maps and secrets of running pods
    configMapAndSecretChangeDetectionStrategy: 'Watch',
  };
}

function nameServerConfig(cluster: KubeCluster, { nodeAddress }: NodeNamespace): string {
  const kubernetes = `kubernetes cluster.local in-addr.arpa {\n kubeconfig ${cluster.kubeconfig} test\n ttl 1\n}`;
  return `.:53 {\n bind ${nodeAddress}\n errors\n ${kubernetes}\n}\n`;
}

function folderOf(name: 'coredns'): string {
  const found = rig(name);
  if ('missing' in found) throw new Error(found.missing);
  return found.folder;
}

/** An image whose only program sleeps: the kubelet starts it first in each pod to hold the network of the pod. */
async function pauseImage(folder: string): Promise<string> {
  await mkdir(join(folder, 'root/bin'), { recursive: true });
  const program = join(folder, 'root/bin/busybox');
  await copyFile(busybox() ?? '', program);
  await chmod(program, 0o755);
  return writeImageArchive(PAUSE, join(folder, 'root'), { Entrypoint: ['/bin/busybox', 'sleep', '2147483'] }, folder);
}

function busybox(): string | undefined {
  return ['/bin/busybox', '/usr/bin/busybox'].find((path) => existsSync(path));
}

async function explain({ kubectl }: KubeCluster, namespace: string): Promise<string> {
  const told = (args: readonly string[]): Promise<string> =>
    kubectl(['--namespace', namespace, ...args]).catch((cause: Error) => cause.message);
  const names = (await told(['get', 'pods', '--output=name'])).split('\n').filter((name) => name !== '');
  const parts = [told(['get', 'pods,deployments,statefulsets,services', '--output=wide']), told(['get', 'events'])];
  const logs = names.map((name) => told(['logs', name, '--all-containers', '--prefix', '--tail=40']));
  return (await Promise.all([...parts, ...logs])).join('\n');
}
