import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeClient, kubeClient, kubeProgram } from './kube-client.ts';
import { rig } from './rig.ts';

/** A cluster without nodes: a real API server with etcd, controllers and scheduler. */
export interface KubeCluster extends KubeClient, AsyncDisposable {
  /** Kills the API server with SIGKILL. */
  killApiServer(): Promise<void>;
  /** Starts it again at the same port. */
  startApiServer(): Promise<void>;
  /** Removes the history of etcd, so that watches from older resource versions get 410. */
  compact(): Promise<void>;
}

export interface KubeOptions {
  /** Address of the API server that clients use. */
  readonly host?: string;
  /** Starts the scheduler and the controllers (default). */
  readonly controllers?: boolean;
  /** Manifests to apply before the controllers start: the garbage collector learns later kinds only every 30 s. */
  readonly crds?: string;
  /** More flags of the API server. */
  readonly apiServerFlags?: readonly string[];
}

/** Why there is no cluster on this machine; `undefined` where `startKube` works. @throws Error in CI when the rig is missing */
export function missingKube(): string | undefined {
  const found = rig('kube');
  return 'missing' in found ? found.missing : undefined;
}

/** Starts a cluster in a temporary folder; 3 to 10 s. @throws Error with the log of the component that failed */
export async function startKube(options: KubeOptions = {}): Promise<KubeCluster> {
  const { host = '127.0.0.1', controllers = true } = options;
  const program = kubeProgram();
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'toolmgr-kube-'));
  const children = new Map<string, ChildProcess>();
  const run = (name: string, ...args: string[]): void => {
    const log = openSync(join(folder, `${name}.log`), 'a');
    children.set(name, spawn(program, [name, ...args], { stdio: ['ignore', log, log] }));
  };
  const kill = async (name: string): Promise<void> => {
    const child = children.get(name);
    children.delete(name);
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  const stop = async (): Promise<void> => {
    for (const name of [...children.keys()].reverse()) await kill(name);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const [clients, peer, api, managerPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const token = randomBytes(16).toString('hex');
    const server = `https://${host}:${api}`;
    const certs = join(folder, 'certs');
    const caFile = join(certs, 'apiserver.crt');
    const key = join(folder, 'sa.key');
    const kubeconfig = join(folder, 'kubeconfig');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(key, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
    writeFileSync(join(folder, 'tokens'), `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
    const client = kubeClient({ server, token, caFile, kubeconfig, folder });
    const { request, kubectl } = client;
    const until = async (path: string): Promise<void> => {
      const end = Date.now() + START_MS;
      for (;;) {
        const status = await request('GET', path).then(
          (answer) => answer.status,
          () => 0,
        );
        if (status === 200) return;
        const dead = [...children].find(([, child]) => child.exitCode !== null)?.[0];
        if (dead !== undefined || Date.now() > end) {
          const log = readFileSync(join(folder, `${dead ?? 'kube-apiserver'}.log`), 'utf8').slice(-SHOWN);
          throw new Error(`${dead ?? `kube-apiserver, ${path}`} did not start\n${log}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const etcd = `http://127.0.0.1:${clients}`;
    const startApiServer = async (): Promise<void> => {
      run(
        'kube-apiserver',
        `--etcd-servers=${etcd}`,
        `--bind-address=${host === '127.0.0.1' ? host : '0.0.0.0'}`,
        `--advertise-address=${host}`,
        `--secure-port=${api}`,
        `--cert-dir=${certs}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        '--authorization-mode=RBAC',
        `--token-auth-file=${join(folder, 'tokens')}`,
        `--service-account-key-file=${key}`,
        `--service-account-signing-key-file=${key}`,
        '--service-account-issuer=https://kubernetes.default.svc',
        `--endpoint-reconciler-type=${host === '127.0.0.1' ? 'none' : 'lease'}`,
        '--allow-privileged=true',
        '--profiling=false',
        ...(options.apiServerFlags ?? []),
      );
      await until('/readyz');
    };
    run(
      'etcd',
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${etcd}`,
      `--advertise-client-urls=${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
    );
    await startApiServer();
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(server, caFile, token)), { mode: 0o600 });
    if (options.crds !== undefined) {
      await kubectl(['apply', '--server-side'], options.crds);
      await kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
    }
    if (controllers) {
      run('kube-scheduler', `--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0');
      run(
        'kube-controller-manager',
        `--kubeconfig=${kubeconfig}`,
        `--service-account-private-key-file=${key}`,
        `--root-ca-file=${caFile}`,
        '--leader-elect=false',
        '--bind-address=127.0.0.1',
        `--secure-port=${managerPort}`,
        `--cert-dir=${join(folder, 'manager')}`,
      );
      await until('/api/v1/namespaces/default/serviceaccounts/default');
    } else await until('/api/v1/namespaces/default');
    return {
      ...client,
      startApiServer,
      killApiServer: () => kill('kube-apiserver'),
      async compact() {
        const revision = await currentRevision(etcd);
        await postJson(`${etcd}/v3/kv/compaction`, { revision, physical: true });
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

const START_MS = 120_000; // 3 s on a quiet machine
const SHOWN = 2_000;

function kubeconfigOf(server: string, caFile: string, token: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'admin', user: { token } }],
  };
}

/** The revision of etcd, over its JSON gateway. */
async function currentRevision(etcd: string): Promise<string> {
  const answer = (await postJson(`${etcd}/v3/kv/range`, { key: 'AA==' })) as { header: { revision: string } };
  return answer.header.revision;
}

async function postJson(url: string, body: object): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
    server.on('error', reject);
  });
}
