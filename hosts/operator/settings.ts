import { UsageError } from '../shared/usage-error.ts';
import { VERSION } from '../shared/version.ts';

/** What the environment of the operator sets. */
export interface OperatorSettings {
  /** Watched namespaces; empty means all. */
  readonly namespaces: readonly string[];
  /** Namespace of the operator, where its Lease is. */
  readonly namespace: string;
  /** Name of this process among the replicas. */
  readonly identity: string;
  /** Name of the Lease, when it is not the default: installations in one namespace have one each. */
  readonly leaseName?: string;
  /** Image of the pods. */
  readonly image: string;
  readonly imagePullSecrets: readonly string[];
  /** Pods get no user ids: OpenShift assigns them. */
  readonly isOpenShift: boolean;
  /** Session storage of objects that name none. */
  readonly redis?: { readonly address: string; readonly password?: { readonly name: string; readonly key: string } };
}

/** Image of the pods without `TOOLMGR_IMAGE`. */
export const DEFAULT_IMAGE = `ghcr.io/toolmgr/toolmgr:${VERSION}`;

/** Every variable that the operator reads. */
export const OPERATOR_VARIABLES = {
  WATCH_NAMESPACE: 'namespaces to watch, separated by commas (all)',
  POD_NAMESPACE: 'namespace of the operator and its Lease (that of the service account or of the kubeconfig)',
  POD_NAME: 'name of this replica (host name)',
  TOOLMGR_LEASE_NAME: 'name of the Lease, when a namespace has several operators (toolmgr-operator-leader-election)',
  TOOLMGR_IMAGE: 'image of the pods (that of the same version)',
  TOOLMGR_DEFAULT_IMAGE_PULL_SECRETS: 'pull secrets of all pods, separated by commas',
  TOOLMGR_OPENSHIFT: 'true: pods get no user ids, because OpenShift assigns them (false)',
  TOOLMGR_DEFAULT_REDIS_ADDR: 'session storage of objects that name none, host:port',
  TOOLMGR_DEFAULT_REDIS_SECRET_NAME: 'secret with the password of that storage',
  TOOLMGR_DEFAULT_REDIS_SECRET_KEY: 'key in that secret (password)',
} as const;

/** Source: RFC 1123 label, as Kubernetes names namespaces. */
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const HOST_PORT = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@]+):([1-9][0-9]{0,4})$/;

/** Reads the variables. `own`: namespace and name for when the environment has none. @throws UsageError that names the variable */
export function settingsFrom(
  env: Readonly<Partial<Record<string, string>>>,
  own: { readonly namespace: string; readonly identity: string },
): OperatorSettings {
  const namespaces = [...new Set(listOf(env.WATCH_NAMESPACE))];
  for (const namespace of namespaces) {
    if (!LABEL.test(namespace)) throw new UsageError(`WATCH_NAMESPACE: '${namespace}' is not a name of a namespace`);
  }
  const redis = redisFrom(env);
  const leaseName = env.TOOLMGR_LEASE_NAME ?? '';
  if (leaseName !== '' && !LABEL.test(leaseName)) {
    throw new UsageError(`TOOLMGR_LEASE_NAME: '${leaseName}' is not a name of a Lease`);
  }
  return {
    namespaces,
    namespace: env.POD_NAMESPACE || own.namespace,
    identity: env.POD_NAME || own.identity,
    ...(leaseName === '' ? {} : { leaseName }),
    image: env.TOOLMGR_IMAGE || DEFAULT_IMAGE,
    imagePullSecrets: listOf(env.TOOLMGR_DEFAULT_IMAGE_PULL_SECRETS),
    isOpenShift: booleanFrom(env, 'TOOLMGR_OPENSHIFT'),
    ...(redis === undefined ? {} : { redis }),
  };
}

function booleanFrom(env: Readonly<Partial<Record<string, string>>>, name: keyof typeof OPERATOR_VARIABLES): boolean {
  const text = env[name] || 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw new UsageError(`${name}: expected true or false, but got ${JSON.stringify(text)}`);
}

function redisFrom(env: Readonly<Partial<Record<string, string>>>): OperatorSettings['redis'] {
  const address = env.TOOLMGR_DEFAULT_REDIS_ADDR ?? '';
  const name = env.TOOLMGR_DEFAULT_REDIS_SECRET_NAME ?? '';
  const key = env.TOOLMGR_DEFAULT_REDIS_SECRET_KEY ?? '';
  if (address === '') {
    if (name === '' && key === '') return undefined;
    throw new UsageError(
      'TOOLMGR_DEFAULT_REDIS_ADDR is missing: the secret of a default session storage needs its address',
    );
  }
  if (!HOST_PORT.test(address)) {
    throw new UsageError(`TOOLMGR_DEFAULT_REDIS_ADDR: expected host:port, but got ${JSON.stringify(address)}`);
  }
  if (name === '') {
    if (key === '') return { address };
    throw new UsageError(
      'TOOLMGR_DEFAULT_REDIS_SECRET_NAME is missing: TOOLMGR_DEFAULT_REDIS_SECRET_KEY is a key of it',
    );
  }
  return { address, password: { name, key: key || 'password' } };
}

function listOf(text = ''): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
